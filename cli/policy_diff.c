/*
 * writ policy diff: what one policy allows that another does not. The deciding is in
 * policy/compare.h; here differences that tools share are put together and told.
 */
#include <stdio.h>
#include <string.h>

#include "cli/policy.h"
#include "policy/call_spec.h"
#include "policy/compare.h"

struct group { /* the same difference for several tools of one agent */
	const struct pair_comparison *pair;
	const struct difference *difference;
	struct json *tools;
};

struct groups {
	struct group *items;
	size_t count;
};

static void groups_clear(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		json_free(groups->items[i].tools);
	mem_free(groups->items);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_call(const struct json *a, const struct json *b)
{
	struct json *left = json_copy(a), *right = json_copy(b);
	bool same;

	json_remove(left, "tool");
	json_remove(right, "tool");
	same = json_equal(left, right);
	json_free(left);
	json_free(right);
	return same;
}

static void add_difference(struct groups *groups, const struct pair_comparison *pair,
			   const struct difference *difference)
{
	struct group *group = NULL;

	for (size_t i = 0; i < groups->count && group == NULL; i++) {
		struct group *known = &groups->items[i];

		if (known->difference->kind == difference->kind &&
		    same_text(known->difference->limit, difference->limit) &&
		    same_text(known->difference->more.rule, difference->more.rule) &&
		    same_text(known->difference->less.rule, difference->less.rule) &&
		    same_call(known->difference->call, difference->call))
			group = known;
	}
	if (group == NULL) {
		groups->items =
			mem_grow(groups->items, (groups->count + 1) * sizeof(*groups->items));
		group = &groups->items[groups->count++];
		*group = (struct group){pair, difference, json_array()};
	}
	json_push_str(group->tools, pair->tool);
}

static struct groups gather(const struct comparison *comparison, bool wider)
{
	struct groups groups = {0};

	for (size_t i = 0; i < comparison->count; i++) {
		const struct pair_comparison *pair = &comparison->pairs[i];
		const struct differences *differences = wider ? &pair->wider : &pair->narrower;

		for (size_t d = 0; d < differences->count; d++)
			add_difference(&groups, pair, &differences->items[d]);
	}
	return groups;
}

/* ---- JSON ---- */

static struct json *verdict_json(const struct verdict *verdict)
{
	struct json *json = json_object();
	struct json *limits;

	json_set_str(json, "effect",
		     verdict->effect == EFFECT_ALLOW ? "allow"
		     : verdict->effect == EFFECT_ASK ? "ask"
						     : "deny");
	json_set_str(json, "code", verdict->code);
	json_set_str(json, "rule", verdict->rule);
	json_set_str(json, "at", verdict->at);
	json_set_str(json, "reason", verdict->reason);
	if (verdict->effect != EFFECT_ALLOW)
		return json;
	limits = json_object();
	json_set_int(limits, "rows", verdict->limits.rows);
	json_set_int(limits, "bytes", verdict->limits.bytes);
	json_set_int(limits, "scan_bytes", verdict->limits.scan_bytes);
	json_set_int(limits, "time_ms", verdict->limits.time_ms);
	json_set(json, "limits", limits);
	return json;
}

static struct json *groups_json(const struct groups *groups, bool wider)
{
	struct json *list = json_array();

	for (size_t i = 0; i < groups->count; i++) {
		const struct group *group = &groups->items[i];
		struct json *json = json_object();

		json_set_str(json, "agent", group->pair->agent);
		json_set(json, "tools", json_copy(group->tools));
		json_set_str(json, "what",
			     group->difference->kind == DIFFERENCE_ALLOWS ? "allows" : "limit");
		json_set_str(json, "limit", group->difference->limit);
		json_set(json, "call", json_copy(group->difference->call));
		json_set(json, wider ? "b" : "a", verdict_json(&group->difference->more));
		json_set(json, wider ? "a" : "b", verdict_json(&group->difference->less));
		json_push(list, json);
	}
	return list;
}

static struct json *pairs_json(const struct comparison *comparison)
{
	struct json *list = json_array();

	for (size_t i = 0; i < comparison->count; i++) {
		const struct pair_comparison *pair = &comparison->pairs[i];
		struct json *json = json_object();

		json_set_str(json, "agent", pair->agent);
		json_set_str(json, "tool", pair->tool);
		json_set_str(json, "relation", relation_name(pair_relation(pair)));
		if (!pair->wider.complete)
			json_set_str(json, "not_proven", pair->wider.not_proven);
		json_push(list, json);
	}
	return list;
}

/* ---- text ---- */

static void print_verdict(const char *who, const struct verdict *verdict)
{
	printf("      %s: %s\n", who, verdict->reason);
}

static long long limit_of(const struct verdict *verdict, const char *name)
{
	const struct call_limits *limits = &verdict->limits;

	if (strcmp(name, "rows") == 0)
		return limits->rows;
	if (strcmp(name, "bytes") == 0)
		return limits->bytes;
	return strcmp(name, "scan") == 0 ? limits->scan_bytes : limits->time_ms;
}

static void print_group(const struct group *group, bool wider)
{
	const struct difference *difference = group->difference;
	CLEANUP(call_spec_freep) struct call_spec *spec = NULL;
	CLEANUP(buf_clear) struct buf said = BUF_INIT;
	const char *between = "";

	printf("  %s with ", group->pair->agent);
	json_each(tool, group->tools)
	{
		printf("%s%s", between, json_str(tool));
		between = ", ";
	}
	if (difference->kind == DIFFERENCE_LIMIT)
		printf(": %s limit of %s", wider ? "a larger" : "a smaller", difference->limit);
	putchar('\n');
	if (call_spec_read(difference->call, &spec, NULL) == 0)
		call_spec_say(call_spec_facts(spec), &said);
	printf("      %s\n", buf_str(&said));
	if (difference->kind == DIFFERENCE_LIMIT)
		printf("      %s: %lld by A, %lld by B\n", difference->limit,
		       limit_of(wider ? &difference->less : &difference->more, difference->limit),
		       limit_of(wider ? &difference->more : &difference->less, difference->limit));
	print_verdict(wider ? "B" : "A", &difference->more);
	print_verdict(wider ? "A" : "B", &difference->less);
}

static void print_groups(const char *heading, const struct groups *groups, bool wider)
{
	if (groups->count == 0)
		return;
	printf("\n%s\n", heading);
	for (size_t i = 0; i < groups->count; i++)
		print_group(&groups->items[i], wider);
}

static void print_unproven(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++) {
		const struct pair_comparison *pair = &comparison->pairs[i];

		if (pair_relation(pair) == RELATION_UNKNOWN)
			printf("\nNot proven, so counted as wider: %s with %s: %s\n", pair->agent,
			       pair->tool, pair->wider.not_proven);
	}
}

struct counts {
	size_t of[RELATION_UNKNOWN + 1];
};

static struct counts count(const struct comparison *comparison)
{
	struct counts counts = {{0}};

	for (size_t i = 0; i < comparison->count; i++)
		counts.of[pair_relation(&comparison->pairs[i])]++;
	return counts;
}

static void print_counts(const struct counts *counts)
{
	printf("\nagents with tools: %zu same, %zu narrower, %zu wider, %zu mixed, %zu not "
	       "proven\n",
	       counts->of[RELATION_SAME], counts->of[RELATION_NARROWER], counts->of[RELATION_WIDER],
	       counts->of[RELATION_MIXED], counts->of[RELATION_UNKNOWN]);
}

static struct json *counts_json(const struct counts *counts)
{
	static const char *const names[] = {"same", "narrower", "wider", "mixed", "not_proven"};
	struct json *json = json_object();

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		json_set_int(json, names[i], (int64_t)counts->of[i]);
	return json;
}

static void print_all(const struct policy_source *a, const struct policy_source *b,
		      const struct comparison *comparison, bool as_json)
{
	CLEANUP(groups_clear) struct groups wider = gather(comparison, true);
	CLEANUP(groups_clear) struct groups narrower = gather(comparison, false);
	struct counts counts = count(comparison);
	CLEANUP(json_freep) struct json *json = NULL;

	if (as_json) {
		json = json_object();
		json_set_str(json, "a", bundle_digest(a->bundle));
		json_set_str(json, "b", bundle_digest(b->bundle));
		json_set(json, "counts", counts_json(&counts));
		json_set(json, "wider", groups_json(&wider, true));
		json_set(json, "narrower", groups_json(&narrower, false));
		json_set(json, "pairs", pairs_json(comparison));
		cli_print_json(json);
		return;
	}
	printf("A %.12s (%s)  B %.12s (%s)\n", bundle_digest(a->bundle), a->label,
	       bundle_digest(b->bundle), b->label);
	print_groups("Wider: allowed by B and not by A", &wider, true);
	print_groups("Narrower: allowed by A and not by B", &narrower, false);
	print_unproven(comparison);
	print_counts(&counts);
}

static int run(int argc, char **argv)
{
	CLEANUP(policy_source_clear) struct policy_source a = {0};
	CLEANUP(policy_source_clear) struct policy_source b = {0};
	CLEANUP(args_clear) struct args args = {0};
	struct comparison comparison;
	struct counts counts;
	int code = args_read(argc, argv, NULL, 0, 2, &args);

	if (code == 0)
		code = policy_source_open(&args, args.word_count > 0 ? args.words[0] : "live", &a);
	if (code == 0)
		code = policy_source_open(&args, args.word_count > 1 ? args.words[1] : "files", &b);
	if (code != 0)
		return code;
	policy_compare(a.bundle, b.bundle, &comparison);
	print_all(&a, &b, &comparison, args.json);
	counts = count(&comparison);
	comparison_clear(&comparison);
	return counts.of[RELATION_WIDER] + counts.of[RELATION_MIXED] + counts.of[RELATION_UNKNOWN] >
			       0
		       ? EXIT_NEGATIVE
		       : EXIT_FINE;
}

const struct policy_command policy_diff = {
	.name = "diff",
	.summary = "what one policy allows that another does not",
	.help = "usage: writ policy diff [A [B]] [-C DIR] [--json]\n"
		"\n"
		"Decides, for every call there can be, what B allows that A does not and the "
		"reverse,\n"
		"rules that take away included. Each difference is a concrete call on which the\n"
		"evaluator confirms both verdicts. What cannot be proven counts as wider.\n"
		"\n"
		"A and B are each one of (default: live and files)\n"
		"  files    the scope files of the workspace\n"
		"  live     the bundle that the service has\n"
		"  HASH     a bundle of this workspace, by 6 or more figures (writ policy log)\n"
		"  DIR      another workspace, for example a checkout of another commit\n"
		"  FILE     the bytes of a bundle (writ policy compile)\n"
		"\n"
		"  --json   {a, b, counts, wider, narrower, pairs}\n"
		"\n"
		"examples:\n"
		"  writ policy diff -C examples/sales\n"
		"  writ policy diff 3f9c2a41 files --json | jq .wider\n"
		"\n"
		"exit: 0 B allows nothing more, 1 it does or that is not proven, 2 wrong usage or\n"
		"unreadable files\n",
	.run = run,
};
