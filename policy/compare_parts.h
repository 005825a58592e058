/* Between the files of the comparison only: compare.c, compare_frame.c, compare_data.c. */
#ifndef POLICY_COMPARE_PARTS_H
#define POLICY_COMPARE_PARTS_H

#include "policy/compare.h"
#include "policy/condition.h"

struct rule_list {
	const struct rule **items;
	size_t count;
};

/* A bundle as one agent and tool meet it: the rules that speak of them, in its order. */
struct side {
	const struct bundle *bundle;
	struct rule_list rules;
};

/* The caller frees rules.items. None for an agent the bundle does not know. */
struct side compare_side(const struct bundle *bundle, const char *agent, const char *tool);

/* What a rule that grants lets a call touch, cut into pieces that no rule of either side divides.
 */
struct atom {
	const char *table;  /* NULL for a function */
	const char *column; /* NULL: touched without a column */
	const char *function;
};

struct atoms {
	struct atom *items;
	size_t count;
	char **made; /* owned texts that no bundle holds */
	size_t made_count;
	bool cut; /* more than one call may touch */
};

void atoms_clear(struct atoms *atoms);
struct atoms atoms_copy(const struct atoms *atoms); /* the texts stay the first one's */

/* Everything but what is touched. */
struct frame {
	struct call_facts facts; /* without tables, columns and functions */
};

/* The rules of a side whose conditions apart from those on what is touched do not fail in a frame:
 * of rules that grant those that hold, of rules that take away also those that cannot be told. */
struct active {
	struct rule_list grants;
	struct rule_list takes;
};
void active_find(const struct side *side, const struct frame *frame, struct active *ret_active);
void active_clear(struct active *active);
/* The first condition apart from those on data that a rule's frame does not meet; NULL: all are. */
const struct condition *frame_stops(const struct side *side, const struct frame *frame,
				    const struct rule *rule);

/* compare_data.c */
/* What rule (one of b's that grants) lets a call of this frame touch, less what takes removes. */
void atoms_of_rule(const struct rule *rule, const struct rule_list *takes, const struct side *a,
		   const struct side *b, struct atoms *ret_atoms);
/* Keeps what other (a rule that grants) grants too and takes does not remove. */
void atoms_keep(struct atoms *atoms, const struct bundle *bundle, const struct rule *other,
		const struct rule_list *takes);

/* compare_value.c: of one attribute, or of one argument by its path, every value that some rule
 * tells from others. */
struct dimension {
	const char *name; /* of the attribute, or the path as written */
	const struct json_path *path;
	struct json *values; /* owned */
	bool may_lack;	     /* beside the values: not there at all */
};

struct dimensions {
	struct dimension *items;
	size_t count;
	bool complete; /* the values stand for all there are */
};

/* Of attributes, or of arguments, as a call that rule (b's) grants can have them. */
void attributes_find(const struct rule *rule, const struct side *a, const struct side *b,
		     struct dimensions *ret);
void arguments_find(const struct rule *rule, const struct side *a, const struct side *b,
		    struct dimensions *ret);
size_t dimensions_count(const struct dimensions *dimensions);
/* The object for one combination; NULL when it has no member. The caller owns it. */
struct json *dimensions_at(const struct dimensions *dimensions, size_t index);
void dimensions_clear(struct dimensions *dimensions);

/* compare_time.c: instants, one for each case that rules tell apart; at least one. */
struct instants {
	int64_t *items;
	size_t count;
};
void instants_find(const struct side *a, const struct side *b, struct instants *ret_instants);

/* compare_frame.c: every frame there is, for one rule of b that grants. */
struct frames {
	const char **databases; /* one is NULL: none touched */
	size_t database_count;
	struct subject *subjects;
	size_t subject_count;
	const char **environments; /* one is NULL: none */
	size_t environment_count;
	struct instants instants;
	struct dimensions attributes;
	struct dimensions arguments;
	struct names approvals[2]; /* none, and of every rule that asks */
	size_t approval_count;
	char *fresh_user;
	char *fresh_tenant;
	char *fresh_environment;
	const char **groups; /* memory of the subjects */
	const char **asks;
	struct json *attributes_now; /* of the frame that was made last */
	struct json *arguments_now;
};
void frames_find(const struct rule *rule, const struct side *a, const struct side *b,
		 struct frames *ret_frames);
/* SIZE_MAX when it is more than can be counted. */
size_t frames_count(const struct frames *frames);
/* Fills facts; attributes and arguments are lent until the next. */
void frames_at(struct frames *frames, size_t index, struct call_facts *facts);
void frames_clear(struct frames *frames);

/* Is every condition of the rule one of those that are cut into finitely many cases here? */
bool rule_is_understood(const struct rule *rule);

/* A name that neither bundle mentions, in whatever case. */
char *fresh_name(const struct bundle *a, const struct bundle *b, const char *like);

#endif
