/* The one function of a harness, called by clang's libFuzzer or by replay_main.c. A harness says
 * with abort() that a promise was broken. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#endif
