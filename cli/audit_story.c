/*
 * The story of a task. Records name the agent they belong to and a result its intent, so the tree
 * is: task, then per agent (in the order they came up) its records, results below their intents.
 * Nothing here can fail.
 */
#include "cli/audit_story.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/value.h"
#include "writ/record.h"

struct story {
	struct opening_book *book; /* borrowed */
	struct json **records;	   /* owned, with what they point to */
	size_t count;
};

struct story *story_new(struct opening_book *book)
{
	struct story *story = mem_alloc(sizeof(*story));

	story->book = book;
	return story;
}

void story_free(struct story *story)
{
	if (story == NULL)
		return;
	for (size_t i = 0; i < story->count; i++)
		json_free(story->records[i]);
	mem_free(story->records);
	mem_free(story);
}

void story_add(struct story *story, struct json *record)
{
	if (story->count % 64 == 0)
		story->records =
			mem_grow(story->records, (story->count + 64) * sizeof(*story->records));
	story->records[story->count++] = record;
}

static const char *text_of(const struct json *record, const char *key)
{
	const char *text = json_get_str(record, key);

	return text == NULL ? "" : text;
}

static bool is_event(const struct json *record, const char *event)
{
	return strcmp(text_of(record, REC_EVENT), event) == 0;
}

static long long seq_of(const struct json *record)
{
	return (long long)json_get_int(record, REC_SEQ, 0);
}

/* Control characters of what people and models wrote do not reach the terminal. */
static void print_clean(const char *text, const char *indent)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			printf("\n%s", indent);
		else
			putchar((unsigned char)*text < 0x20 || *text == 0x7F ? ' ' : *text);
	}
}

/* An opened value on a line of its own; nothing without an opening. */
static void print_opened(const struct story *story, const struct json *record, const char *name,
			 const char *indent)
{
	CLEANUP(json_freep)
	struct json *value =
		opening_book_value(story->book, (uint64_t)seq_of(record), record, name);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(mem_freep) char *deeper = mem_format("%s%*s", indent, (int)strlen(name) + 2, "");

	if (value == NULL)
		return;
	if (json_str(value) != NULL)
		buf_add_str(&text, json_str(value));
	else
		json_write(value, &text);
	printf("%s%s: ", indent, name);
	print_clean(buf_str(&text), deeper);
	putchar('\n');
}

static void print_head(const struct json *record, const char *branch)
{
	printf("%6lld  %.15s  %s", seq_of(record), text_of(record, REC_TIME) + 11, branch);
}

static void print_list(const struct json *list, const char *name)
{
	const char *before = "";

	if (json_len(list) == 0)
		return;
	printf(", %s ", name);
	json_each(item, list)
	{
		printf("%s%s", before, json_str(item) == NULL ? "?" : json_str(item));
		before = " ";
	}
}

static void print_intent(const struct json *record)
{
	const char *decision = text_of(record, REC_DECISION);
	bool denied = strcmp(decision, "allow") != 0;

	print_head(record, "   call ");
	printf("%s: %s%s%s", text_of(record, REC_TOOL),
	       cli_color() ? (denied ? "\033[31m" : "\033[32m") : "", decision,
	       cli_color() ? "\033[0m" : "");
	if (json_get_str(record, REC_RULE) != NULL)
		printf(" by %s (%s)", text_of(record, REC_RULE), text_of(record, REC_RULE_AT));
	if (denied)
		printf(", %s", text_of(record, REC_CODE));
	print_list(json_get(json_get(record, REC_FACTS), "tables"), "tables");
	putchar('\n');
}

static void print_result(const struct json *record)
{
	print_head(record, "      -> ");
	printf("%s", text_of(record, REC_STATUS));
	if (json_get_str(record, REC_CODE) != NULL)
		printf(" (%s)", text_of(record, REC_CODE));
	if (json_get(record, REC_ROWS) != NULL)
		printf(", %lld rows", (long long)json_get_int(record, REC_ROWS, 0));
	if (json_get(record, REC_BYTES) != NULL) {
		CLEANUP(mem_freep) char *bytes = bytes_text(json_get_int(record, REC_BYTES, 0));

		printf(", %s scanned", bytes);
	}
	putchar('\n');
}

static void print_token(const struct json *record)
{
	print_head(record, "   ");
	printf("token %s", text_of(record, REC_JTI));
	if (json_get_str(record, REC_PARENT_JTI) != NULL)
		printf(", delegated from %s", text_of(record, REC_PARENT_JTI));
	printf("%s%s\n", is_event(record, EV_TOKEN_REVOKE) ? " revoked " : "",
	       text_of(record, REC_CAUSE));
}

static void print_other(const struct json *record, const char *branch)
{
	static const char *const keys[] = {REC_STATUS, REC_CODE, REC_DECISION, REC_CAUSE, REC_BY};

	print_head(record, branch);
	printf("%s", text_of(record, REC_EVENT));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (json_get_str(record, keys[i]) != NULL)
			printf(" %s", text_of(record, keys[i]));
	putchar('\n');
}

#define DEEP "                              "

static void print_results_of(const struct story *story, const struct json *intent)
{
	for (size_t i = 0; i < story->count; i++) {
		const struct json *record = story->records[i];

		if (!is_event(record, EV_TOOL_RESULT) ||
		    json_get_int(record, REC_INTENT, -1) != seq_of(intent))
			continue;
		print_result(record);
		print_opened(story, record, CM_ERROR, DEEP "   ");
	}
}

static void print_agent_record(const struct story *story, const struct json *record)
{
	if (is_event(record, EV_TOOL_INTENT)) {
		print_intent(record);
		print_opened(story, record, CM_SQL, DEEP);
		print_results_of(story, record);
	} else if (is_event(record, EV_TOKEN_ISSUE) || is_event(record, EV_TOKEN_REVOKE)) {
		print_token(record);
	} else if (!is_event(record, EV_TOOL_RESULT) || json_get(record, REC_INTENT) == NULL) {
		print_other(record, "   ");
	}
}

static bool came_before(const struct story *story, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(text_of(story->records[i], REC_CLIENT),
			   text_of(story->records[index], REC_CLIENT)) == 0)
			return true;
	return false;
}

static void print_agent(const struct story *story, size_t first)
{
	const char *agent = text_of(story->records[first], REC_CLIENT);

	printf("%*s  agent %s\n", 23, "", agent);
	for (size_t i = first; i < story->count; i++)
		if (strcmp(text_of(story->records[i], REC_CLIENT), agent) == 0)
			print_agent_record(story, story->records[i]);
}

static const struct json *find(const struct story *story, const char *event)
{
	for (size_t i = 0; i < story->count; i++)
		if (is_event(story->records[i], event))
			return story->records[i];
	return NULL;
}

static void print_opening(const struct story *story, const struct audit_filter *filter)
{
	const struct json *open = find(story, EV_TASK_OPEN);
	const struct json *first = open == NULL ? story->records[0] : open;
	const char *user = audit_filter_user(filter, first);

	printf("task %s%s%s%s%s, %.10s (not verified: see `writ audit verify`)\n",
	       text_of(first, REC_TASK), text_of(first, REC_TRIAL)[0] != '\0' ? ", " : "",
	       text_of(first, REC_TRIAL), user[0] != '\0' ? " of " : "", user,
	       text_of(first, REC_TIME));
	if (open == NULL)
		return;
	print_other(open, "");
	print_opened(story, open, CM_QUESTION, DEEP);
}

static void print_close(const struct story *story)
{
	const struct json *close = find(story, EV_TASK_CLOSE);

	if (close == NULL) {
		printf("%*s  (no task.close: the task is running, or its end was not recorded)\n",
		       23, "");
		return;
	}
	print_other(close, "");
	print_opened(story, close, CM_SQL, DEEP);
	print_opened(story, close, CM_ANSWER, DEEP);
}

void story_print(const struct story *story, const struct audit_filter *filter)
{
	print_opening(story, filter);
	for (size_t i = 0; i < story->count; i++) {
		const struct json *record = story->records[i];

		if (is_event(record, EV_TASK_OPEN) || is_event(record, EV_TASK_CLOSE))
			continue;
		if (json_get_str(record, REC_CLIENT) == NULL)
			print_other(record, "");
		else if (!came_before(story, i))
			print_agent(story, i);
	}
	print_close(story);
}
