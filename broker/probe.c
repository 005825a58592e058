/* Passing the supervisor's question on; see probe.h. A program that is not there is not asked, and
 * the end of file tells. */
#include "broker/probe.h"

#include <string.h>
#include <unistd.h>

#include "broker/broker.h"

bool probe_answer(int *fd)
{
	if (*fd < 0)
		return false;
	IGNORE(write(*fd, "+", 1) < 0, "the supervisor asks again");
	close(*fd);
	*fd = PROBE_NONE;
	return true;
}

void probe_keep(int *kept, int fd)
{
	fd_closep(kept);
	*kept = fd;
}

/* The descriptor itself goes on: lanes carry them. */
static void ask_orchestrator(struct broker *broker, int fd)
{
	struct json *message = json_object();

	json_set_str(message, "kind", "probe");
	if (broker->orchestrator != NULL) {
		lane_send(broker->orchestrator, message, fd);
		return;
	}
	json_free(message);
	close(fd);
}

static int ask_named(struct broker *broker, const char *what, const char *name, int fd,
		     struct err *err)
{
	struct connector *connector = connectors_find(&broker->connectors, name);

	if (strcmp(what, "sink") == 0) {
		sinks_probe(&broker->sinks, name, fd);
	} else if (strcmp(what, "connector") != 0) {
		close(fd);
		return err_set(err, ERR_INVALID, "nothing called %.64s can be probed", what);
	} else if (connector == NULL) {
		close(fd);
	} else {
		connector_probe(connector, fd);
	}
	return 0;
}

int probe_start(struct broker *broker, const struct json *message, int fd, struct err *err)
{
	const char *what = json_get_str(message, "probe");
	const char *name = json_get_str(message, "name");

	if (strcmp(what, "broker") == 0 || fd < 0) {
		fd_closep(&fd);
		return 0;
	}
	if (strcmp(what, "signer") == 0)
		signer_client_probe(broker->signer, fd);
	else if (strcmp(what, "orchestrator") == 0)
		ask_orchestrator(broker, fd);
	else
		return ask_named(broker, what, name == NULL ? "" : name, fd, err);
	return 0;
}
