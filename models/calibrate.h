// Runs a network on seeded inputs to give it the numbers that training and post-training quantisation would:
//
//     conv -> batch normalisation -> activation     becomes     conv' -> activation,  and the range of each
//     output
//
// Batch normalisation (Ioffe and Szegedy, 2015) takes mean and variance of each channel over the batch, and
// seeded gain and shift; both are folded into the weights and bias of the layer before, as deployed networks
// have it. So every channel of every layer is alive: neither silent nor saturated. The ranges are minimum and
// maximum over the batch, as of onnxruntime's MinMax calibration; softmax has none.
//
// Only additions, multiplications, divisions and square roots of IEEE doubles in a fixed order: the result is
// the same on every machine, provided that the compiler fuses no multiply-add (-ffp-contract=off).
#pragma once

#include "models/network.h"

namespace arenac::models {

Network calibrate(Network network);

}  // namespace arenac::models
