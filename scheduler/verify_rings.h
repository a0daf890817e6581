// Whether what a step reads is still there: the schedule runs with tensors and numbers in place of elements.
//
//   a ring of 2 rows    conv1 writes row 2      conv2 reads rows 1 and 2    it reads row 0, too, ahead of
//   time
//     slot 0:  a 0        slot 0:  a 2            wanted  a 1   a 2           wanted  a 0
//     slot 1:  a 1        slot 1:  a 1            found   a 1   a 2           found   a 2: refused
//
//   a concat of a and b in the storage of y, row by row:
//     a writes its cells of row 0:  y 0  ---      b writes the others:  y 0  y 0      y may be read: row 0
#pragma once

#include "scheduler/schedule.h"

namespace arenac {

// Runs a schedule with the tensor and the number of the row in each slot of each ring, and of each storage
// that is there whole: every row that a step or a slab reads must be there, and be of the tensor that is
// read, not of another that shares its storage. Rows that tensors share, as the parts of a concat do, are
// told apart by part, those that come in chunks by column. InternalError otherwise.
//
// Only the numbers of rows and columns in rings are checked of storages whose chunks touch more columns than
// their own, that hold elements of several sizes, or that have more parts than are worth telling apart.
// Storages that lie over each other are verify_bytes.h's. Of what a branch or a loop writes nothing is known
// behind it, nor at the beginning of a loop's body.
void verify_rings(const Schedule& schedule);

}  // namespace arenac
