/*
 * The supervisor's question whether a program still runs its loop (docs/protocol.md, "control"). It
 * parses nothing, so the answer is a byte in a pipe: each question brings the end to write to. The
 * broker passes it on, over the channel that it has with that program, and writes the byte when
 * that answers; the end of file without one is no answer.
 */
#ifndef BROKER_PROBE_H
#define BROKER_PROBE_H

#include "base/err.h"
#include "base/json.h"

#define PROBE_NONE (-1)

struct broker;

/* {"probe":"signer"|"orchestrator"|"connector"|"sink"|"broker","name"}. Takes fd, which may be -1
 * for the broker itself: that it takes the message is answer enough. */
MUST_CHECK int probe_start(struct broker *broker, const struct json *message, int fd,
			   struct err *err);

/* Of a program that was asked and has answered: writes the byte and closes. False when nobody had
 * asked. */
bool probe_answer(int *fd);
/* Takes the place of a question that nobody answered, which is closed. */
void probe_keep(int *kept, int fd);

#endif
