/*
 * The YAML door under arbitrary bytes. Whatever is accepted has UTF-8 texts, places that lie in the
 * file in the order of the text, and keys that are found again; whatever is refused says where,
 * without a control character. A broken promise aborts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/yaml.h"
#include "tests/fuzz/fuzz.h"

#define WHERE "f.yaml"

static void demand(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void check_node(const struct yaml *node, int depth)
{
	const char *text = yaml_text(node);
	struct err err;

	demand(depth <= 32, "depth is bounded");
	demand(yaml_line(node) >= 1 && yaml_column(node) >= 1, "places count from 1");
	demand((text != NULL) == (yaml_kind(node) == YAML_SCALAR), "scalars have a text");
	demand(text == NULL || utf8_valid(text, strlen(text)), "texts are UTF-8");
	yaml_error(node, &err, "%s", text != NULL ? text : "");
	demand(utf8_valid(err.text, strlen(err.text)), "frames are UTF-8");
	for (size_t i = 0; i < yaml_len(node); i++) {
		const struct yaml *key = yaml_key(node, i);

		if (yaml_kind(node) == YAML_LIST) {
			check_node(yaml_at(node, i), depth + 1);
			continue;
		}
		check_node(key, depth + 1);
		check_node(yaml_value(node, i), depth + 1);
		demand(yaml_get(node, yaml_text(key)) == yaml_value(node, i), "keys are found");
		demand(i == 0 || yaml_line(yaml_key(node, i - 1)) <= yaml_line(key),
		       "keys keep their order");
	}
}

static void check_refusal(const struct err *err)
{
	demand(err->kind == ERR_INVALID || err->kind == ERR_LIMIT, "the kind is known");
	demand(strncmp(err->text, WHERE ":", strlen(WHERE) + 1) == 0, "the file is named");
	demand(utf8_valid(err->text, strlen(err->text)), "messages are UTF-8");
	for (const char *c = err->text; *c != '\0'; c++)
		demand((unsigned char)*c >= ' ' || *c == '\n', "no control character is shown");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	CLEANUP(yaml_freep) struct yaml *root = NULL;
	struct err err = {0};

	if (yaml_parse(WHERE, (const char *)bytes, len, &root, &err) < 0) {
		demand(root == NULL, "a failure leaves the output untouched");
		check_refusal(&err);
		return 0;
	}
	check_node(root, 1);
	return 0;
}
