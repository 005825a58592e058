/*
 * "audit" of writ.yaml: how long segments of the log get, how long they are kept, who may read it,
 * and where it is copied to. It becomes state/config/audit.json.
 */
#include <string.h>

#include "policy/workspace_parts.h"

#define SEGMENT_BYTES_MAX (1LL << 30)
#define SEGMENT_MS_MAX (31LL * 24 * 3600 * 1000)
#define KEEP_MS_MAX (876000LL * 3600 * 1000) /* a hundred years */
#define AUDITORS_MAX 64u
#define SINKS_MAX 8u

static void read_segment(struct check *check, const struct yaml *node, struct json *audit)
{
	const struct yaml *size = yaml_get(node, "segment");
	const struct yaml *age = yaml_get(node, "segment_age");
	const struct yaml *keep = yaml_get(node, "keep");
	int64_t value;

	if (size != NULL &&
	    check_size(check, size, "the size of a segment", SEGMENT_BYTES_MAX, &value))
		json_set_int(audit, "segment_bytes", value);
	if (age != NULL &&
	    check_duration_ms(check, age, "the age of a segment", SEGMENT_MS_MAX, &value))
		json_set_int(audit, "segment_s", value / 1000);
	if (keep != NULL &&
	    check_duration_ms(check, keep, "the keeping of segments", KEEP_MS_MAX, &value))
		json_set_int(audit, "keep_s", value / 1000);
}

static bool is_reader(const char *text)
{
	return (strncmp(text, "group:", 6) == 0 && text[6] != '\0') ||
	       (strncmp(text, "user:", 5) == 0 && text[5] != '\0');
}

static void read_auditors(struct check *check, const struct yaml *node, struct json *audit)
{
	struct json *list = json_array();

	for (size_t i = 0; node != NULL && check_list(check, node, "auditors") &&
			   i < yaml_len(node) && i < AUDITORS_MAX;
	     i++) {
		const struct yaml *item = yaml_at(node, i);
		const char *text = check_text(check, item, "an auditor");

		if (text != NULL && !is_reader(text))
			check_fail(check, "bad_value", item,
				   "an auditor is written like group:auditors or user:carol");
		else if (text != NULL)
			json_push_str(list, text);
	}
	json_set(audit, "auditors", list);
}

static void read_sink(struct check *check, const struct yaml *node, struct json *sink)
{
	static const char *const kinds[] = {"file", "syslog", NULL};
	const struct yaml *value = NULL;
	const char *text;

	if (!check_map(check, node, "a sink", kinds))
		return;
	for (size_t i = 0; kinds[i] != NULL; i++) {
		const struct yaml *found = yaml_get(node, kinds[i]);

		if (found == NULL)
			continue;
		if (value != NULL)
			check_fail(check, "bad_value", node, "a sink is of one kind");
		value = found;
		json_set_str(sink, "kind", kinds[i]);
	}
	text = value == NULL ? NULL : check_text(check, value, "the path of a sink");
	if (value == NULL)
		check_fail(check, "missing_key", node,
			   "a sink is written like {file: /var/log/writ.jsonl} or {syslog: "
			   "/dev/log}");
	else if (text != NULL && text[0] != '/')
		check_fail(check, "bad_value", value, "the path of a sink begins with /");
	else if (text != NULL)
		json_set_str(sink, "path", text);
}

static struct json *read_sinks(struct check *check, const struct yaml *node)
{
	struct json *sinks = json_object();

	if (yaml_kind(node) != YAML_MAP) {
		check_fail(check, "bad_value", node,
			   "sinks: {siem: {syslog: /dev/log}}: a name for each");
		return sinks;
	}
	if (yaml_len(node) > SINKS_MAX)
		check_fail(check, "bad_value", node, "more than %u sinks", SINKS_MAX);
	for (size_t i = 0; i < yaml_len(node); i++) {
		const char *name = check_name(check, yaml_key(node, i), "a sink");
		struct json *sink = json_object();

		read_sink(check, yaml_value(node, i), sink);
		if (name != NULL)
			json_set(sinks, name, sink);
		else
			json_free(sink);
	}
	return sinks;
}

struct json *workspace_audit(struct check *check, const struct yaml *node, struct json *service)
{
	static const char *const keys[] = {"segment",  "segment_age", "keep",
					   "auditors", "sinks",	      NULL};
	struct json *audit = json_object();
	bool given = node != NULL && check_map(check, node, "audit", keys);

	if (!given)
		node = NULL;
	if (given)
		read_segment(check, node, audit);
	read_auditors(check, given ? yaml_get(node, "auditors") : NULL, audit);
	if (given && yaml_get(node, "sinks") != NULL)
		json_set(service, "sinks", read_sinks(check, yaml_get(node, "sinks")));
	return audit;
}
