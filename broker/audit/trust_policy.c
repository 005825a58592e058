/* Reading a policy word by word and asking whether its quorum is reached. What can fail: any line
 * of another form, a name used before its definition, a key or a name given twice. */
#include "broker/audit/trust_policy.h"

#include <string.h>

#define WORDS_MAX (TRUST_NAMES_MAX + 3)

struct reader {
	struct trust_policy *policy;
	struct err *err;
	unsigned int line;
	char *words[WORDS_MAX]; /* of this line, in the copy */
	size_t count;
	bool has_quorum;
};

static int fail(struct reader *reader, const char *what, const char *word)
{
	return err_set(reader->err, ERR_INVALID, "line %u: %s%s%.80s", reader->line, what,
		       word[0] == '\0' ? "" : ": ", word);
}

void trust_policy_clear(struct trust_policy *policy)
{
	for (size_t i = 0; i < policy->log_count; i++)
		mem_free(policy->logs[i].url);
	for (size_t i = 0; i < policy->member_count; i++) {
		mem_free(policy->members[i].name);
		mem_free(policy->members[i].url);
		mem_free(policy->members[i].members);
	}
	mem_free(policy->logs);
	mem_free(policy->members);
	*policy = (struct trust_policy){.quorum = -1};
}

static int find(const struct trust_policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->member_count; i++)
		if (strcmp(policy->members[i].name, name) == 0)
			return (int)i;
	return -1;
}

static bool same_key(const struct vkey *a, const struct vkey *b)
{
	return memcmp(a->public_key, b->public_key, ED25519_PUBLIC_LEN) == 0;
}

static int read_log(struct reader *reader)
{
	struct trust_policy *policy = reader->policy;
	struct trust_log log = {.url = NULL};

	if (reader->count < 2 || reader->count > 3)
		return fail(reader, "expected: log <vkey> [<url>]", "");
	if (policy->log_count == TRUST_LOGS_MAX)
		return fail(reader, "too many logs", "");
	if (vkey_parse(reader->words[1], strlen(reader->words[1]), &log.key, reader->err) < 0)
		return err_wrap(reader->err, "line %u", reader->line);
	for (size_t i = 0; i < policy->log_count; i++)
		if (same_key(&policy->logs[i].key, &log.key))
			return fail(reader, "a key that another log has", log.key.name);
	log.url = reader->count == 3 ? mem_str(reader->words[2]) : NULL;
	policy->logs[policy->log_count++] = log;
	return 0;
}

static int new_name(struct reader *reader, const char *name)
{
	if (strcmp(name, "none") == 0)
		return fail(reader, "\"none\" is no name", "");
	if (find(reader->policy, name) >= 0)
		return fail(reader, "a name that is taken", name);
	if (reader->policy->member_count == TRUST_NAMES_MAX)
		return fail(reader, "too many witnesses and groups", "");
	return 0;
}

static int read_witness(struct reader *reader)
{
	struct trust_policy *policy = reader->policy;
	struct trust_member witness = {.name = NULL};

	if (reader->count < 3 || reader->count > 4)
		return fail(reader, "expected: witness <name> <vkey> [<url>]", "");
	if (new_name(reader, reader->words[1]) < 0)
		return -1;
	if (vkey_parse_cosigner(reader->words[2], strlen(reader->words[2]), &witness.key,
				reader->err) < 0)
		return err_wrap(reader->err, "line %u", reader->line);
	for (size_t i = 0; i < policy->member_count; i++)
		if (!policy->members[i].is_group && same_key(&policy->members[i].key, &witness.key))
			return fail(reader, "a key that another witness has", witness.key.name);
	witness.name = mem_str(reader->words[1]);
	witness.url = reader->count == 4 ? mem_str(reader->words[3]) : NULL;
	policy->members[policy->member_count++] = witness;
	return 0;
}

static int read_threshold(struct reader *reader, unsigned int count, unsigned int *ret)
{
	const char *word = reader->words[2];
	unsigned int value = 0;

	if (strcmp(word, "all") == 0 || strcmp(word, "any") == 0) {
		*ret = word[1] == 'l' ? count : 1;
		return 0;
	}
	for (const char *at = word; *at != '\0'; at++) {
		if (*at < '0' || *at > '9' || value > TRUST_NAMES_MAX)
			return fail(reader, "neither a number nor any nor all", word);
		value = value * 10 + (unsigned int)(*at - '0');
	}
	if (word[0] == '0' || value < 1 || value > count)
		return fail(reader, "a threshold between 1 and the number of members", word);
	*ret = value;
	return 0;
}

static int take_members(struct reader *reader, struct trust_member *group)
{
	struct trust_policy *policy = reader->policy;

	for (unsigned int i = 0; i < group->member_count; i++) {
		int place = find(policy, reader->words[3 + i]);

		if (place < 0)
			return fail(reader, "a name that is not defined above",
				    reader->words[3 + i]);
		if (policy->members[place].in_group)
			return fail(reader, "a name that is in a group already",
				    reader->words[3 + i]);
		policy->members[place].in_group = true;
		group->members[i] = (unsigned int)place;
	}
	return 0;
}

static int read_group(struct reader *reader)
{
	struct trust_policy *policy = reader->policy;
	struct trust_member group = {.is_group = true};

	if (reader->count < 4)
		return fail(reader, "expected: group <name> <k|any|all> <member>...", "");
	group.member_count = (unsigned int)reader->count - 3;
	if (new_name(reader, reader->words[1]) < 0 ||
	    read_threshold(reader, group.member_count, &group.threshold) < 0)
		return -1;
	group.members = mem_array(group.member_count, sizeof(*group.members));
	if (take_members(reader, &group) < 0) {
		mem_free(group.members);
		return -1;
	}
	group.name = mem_str(reader->words[1]);
	policy->members[policy->member_count++] = group;
	return 0;
}

static int read_quorum(struct reader *reader)
{
	if (reader->count != 2)
		return fail(reader, "expected: quorum <name|none>", "");
	if (reader->has_quorum)
		return fail(reader, "a second quorum", "");
	reader->has_quorum = true;
	if (strcmp(reader->words[1], "none") == 0)
		return 0;
	reader->policy->quorum = find(reader->policy, reader->words[1]);
	if (reader->policy->quorum < 0)
		return fail(reader, "a name that is not defined above", reader->words[1]);
	return 0;
}

static int read_line(struct reader *reader, char *line)
{
	static const struct {
		const char *word;
		int (*read)(struct reader *reader);
	} kinds[] = {{"log", read_log},
		     {"witness", read_witness},
		     {"group", read_group},
		     {"quorum", read_quorum}};
	char *rest = NULL;

	reader->count = 0;
	for (char *word = strtok_r(line, " \t", &rest); word != NULL;
	     word = strtok_r(NULL, " \t", &rest)) {
		if (reader->count == WORDS_MAX)
			return fail(reader, "too many words", "");
		reader->words[reader->count++] = word;
	}
	if (reader->count == 0 || reader->words[0][0] == '#')
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].word, reader->words[0]) == 0)
			return kinds[i].read(reader);
	return fail(reader, "neither log, witness, group nor quorum", reader->words[0]);
}

static int read_lines(struct reader *reader, char *text)
{
	while (*text != '\0') {
		char *feed = strchr(text, '\n');

		reader->line++;
		if (feed == NULL)
			return fail(reader, "does not end in a line feed", "");
		*feed = '\0';
		for (const char *c = text; *c != '\0'; c++)
			if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7F)
				return fail(reader, "a control character", "");
		if (read_line(reader, text) < 0)
			return -1;
		text = feed + 1;
	}
	if (!reader->has_quorum)
		return err_set(reader->err, ERR_INVALID, "no quorum line");
	return 0;
}

int trust_policy_parse(const char *text, size_t len, struct trust_policy *ret_policy,
		       struct err *err)
{
	struct trust_policy policy = {.quorum = -1};
	CLEANUP(mem_freep) char *copy = NULL;
	CLEANUP(mem_freep) struct reader *reader = mem_alloc(sizeof(*reader));

	if (len > TRUST_POLICY_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "policy: over %u bytes", TRUST_POLICY_BYTES_MAX);
	if (memchr(text, '\0', len) != NULL)
		return err_set(err, ERR_INVALID, "policy: a NUL byte");
	copy = mem_strn(text, len);
	policy.logs = mem_array(TRUST_LOGS_MAX, sizeof(*policy.logs));
	policy.members = mem_array(TRUST_NAMES_MAX, sizeof(*policy.members));
	reader->policy = &policy;
	reader->err = err;
	if (read_lines(reader, copy) < 0) {
		trust_policy_clear(&policy);
		return err_wrap(err, "policy");
	}
	*ret_policy = policy;
	return 0;
}

size_t trust_policy_witnesses(const struct trust_policy *policy)
{
	size_t count = 0;

	for (size_t i = 0; i < policy->member_count; i++)
		count += !policy->members[i].is_group;
	return count;
}

bool trust_policy_met(const struct trust_policy *policy, const bool *cosigned)
{
	CLEANUP(mem_freep) bool *met = mem_array(policy->member_count + 1, sizeof(*met));

	if (policy->quorum < 0)
		return true;
	/* Members stand before their groups, so one pass settles all. */
	for (size_t i = 0; i < policy->member_count; i++) {
		const struct trust_member *member = &policy->members[i];
		unsigned int count = 0;

		for (unsigned int j = 0; j < member->member_count; j++)
			count += met[member->members[j]];
		met[i] = member->is_group ? count >= member->threshold : cosigned[i];
	}
	return met[policy->quorum];
}
