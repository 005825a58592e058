/* writ policy prove: the invariants of a workspace, decided for all calls. */
#include <stdio.h>

#include "cli/policy.h"
#include "policy/prove.h"
#include "policy/source.h"

static void print_json(const struct policy_files *files, const struct policy_proof *proof)
{
	struct json *json = json_object();

	json_set_bool(json, "ok", proof->broken + proof->not_proven == 0);
	json_set_str(json, "digest", bundle_digest(files->bundle));
	json_set_int(json, "proven", (int64_t)proof->proven);
	json_set_int(json, "broken", (int64_t)proof->broken);
	json_set_int(json, "not_proven", (int64_t)proof->not_proven);
	json_set(json, "invariants", json_copy(proof->invariants));
	cli_print_json(json);
	json_free(json);
}

static int run(int argc, char **argv)
{
	CLEANUP(policy_files_clear) struct policy_files files = {0};
	CLEANUP(policy_proof_clear) struct policy_proof proof = {0};
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(args_clear) struct args args = {0};
	struct err err = {0};
	int code = args_read(argc, argv, NULL, 0, 0, &args);

	if (code == 0)
		code = policy_files_want(&args, POLICY_WITH_DATA, &files);
	if (code != EXIT_FINE)
		return code;
	if (files.extended == NULL)
		return cli_fail(EXIT_NEGATIVE, "no invariant: there is no " SCOPE_INVARIANTS);
	if (policy_prove(files.bundle, files.extended, &proof, &err) < 0)
		return cli_fail(EXIT_NEGATIVE, "%s", err.text);
	policy_proof_write(&proof, true, &text);
	if (args.json)
		print_json(&files, &proof);
	else
		printf("%spolicy %.12s: %zu invariant%s proven, %zu broken, %zu not proven\n",
		       buf_str(&text), bundle_digest(files.bundle), proof.proven,
		       plural(proof.proven), proof.broken, proof.not_proven);
	return proof.broken + proof.not_proven == 0 ? EXIT_FINE : EXIT_NEGATIVE;
}

const struct policy_command policy_prove_command = {
	.name = "prove",
	.summary = "invariants, decided for all calls there can be",
	.help = "usage: writ policy prove [-C DIR] [--json]\n"
		"\n"
		"scopes/invariants.yaml says what no rule may ever allow, as deny and ask rules "
		"in\n"
		"the language of scope files. They take no effect; each must already hold. That "
		"is\n"
		"decided for every call there can be: proven, or broken with a call that the "
		"rules\n"
		"allow. What cannot be proven counts as broken. In such rules \"agents: "
		"[role:report]\"\n"
		"means every agent of that role. writ policy apply refuses a policy that breaks "
		"one.\n"
		"\n"
		"  --json  {ok, digest, proven, broken, not_proven, invariants}\n"
		"\n"
		"example:\n"
		"  writ policy prove -C examples/sales\n"
		"\n"
		"exit: 0 all are proven, 1 one is not or there is none, 2 wrong usage or "
		"unreadable\n"
		"files\n",
	.run = run,
};
