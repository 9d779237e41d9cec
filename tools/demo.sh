#!/usr/bin/env bash
# From start to end on generated data: train with a certificate, predict on rows held out, check the certificate
# again.
#
#     demo.sh [FENCHEL]     the executable; default: $FENCHEL_CLI, then build/release/fenchel
set -euo pipefail
cd "$(dirname "$0")/.."

fenchel=${1:-${FENCHEL_CLI:-build/release/fenchel}}
out=build/demo
rows=20000 held_out=4000
mkdir -p "$out"

# Shows a command as a user would type it, then runs it.
run() {
  printf '\n$ fenchel'
  printf ' %s' "$@"
  printf '\n'
  "$fenchel" "$@"
}

echo "A problem like text classification: $rows documents, 2000 words, a tenth of the words matter."
run generate "$out/all.svm" --rows $rows --features 2000 --density 0.02 --sparsity 0.1 --noise 0.3 --seed 1
head -n $((rows - held_out)) "$out/all.svm" >"$out/train.svm"
tail -n $held_out "$out/all.svm" >"$out/test.svm"

echo
echo "Training. The gap is an upper bound on how far the model is from the best one there is."
run train "$out/train.svm" "$out/model.fenchel" --loss hinge --lambda 1e-4 --tol 1e-6 --verbose

echo
echo "Predicting on rows the training has not seen."
run predict "$out/test.svm" "$out/model.fenchel" "$out/predictions.txt"

echo
echo "Checking the certificate again, from the data and the model file alone."
run certify "$out/train.svm" "$out/model.fenchel"

echo
echo "The files are in $out: train.svm, test.svm, model.fenchel and predictions.txt."
