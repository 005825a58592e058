/*
 * Where a value stands in the arguments of a call: "rows", "filter.region", "items[0].id",
 * "items[*].id". Names hold anything but ".", "[" and "]"; "[*]" is every element of a list.
 */
#ifndef POLICY_JSON_PATH_H
#define POLICY_JSON_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum step_kind { STEP_NAME, STEP_INDEX, STEP_EACH };

struct json_step {
	enum step_kind kind;
	char *name;	/* owned; of STEP_NAME */
	uint32_t index; /* of STEP_INDEX */
};

struct json_path {
	struct json_step *steps; /* owned; the first is a name */
	size_t count;
};

#define JSON_PATH_STEPS_MAX 16u
#define JSON_PATH_INDEX_MAX 999999u

/* The error tells what is wrong without naming a file. */
MUST_CHECK int json_path_read(const char *text, struct json_path *ret_path, struct err *err);
void json_path_clear(struct json_path *path);

#endif
