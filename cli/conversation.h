/* writ ask without a question: asking, being asked back, looking at what was done. */
#ifndef CLI_CONVERSATION_H
#define CLI_CONVERSATION_H

#include <stdbool.h>

/* Until end of input or /quit; returns an exit code. */
int converse(const char *dir, bool trace);

#endif
