/*
 * login - how a browser comes in.
 *
 *     roger ui --> a key, in the fragment of an address, which no request, log or
 *                  Referer has
 *     POST /login with the key --> a cookie, and the key is used up
 *     a request with the cookie, and from a page of ours --> who it is
 *     POST /logout, `roger token revoke` --> nobody
 *
 * Cookies do not know ports: every server of this host is sent ours, and may write over
 * it.  So its name has the port and the workspace, and alone it is not enough: a browser
 * also says where a request comes from, which no page can change.
 */
#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "cli/term.h"
#include "data/remote.h"
#include "serve/serve.h"

enum { COOKIE_NAME_BYTES = 48 };

const char serve_key_fault[] =
	"key: it was used, is older than a minute, or never was; `roger ui` makes another";

/* ------------------------------------------------------------------ cookies -- */

static void name_cookie(const struct serve *serve, char to[COOKIE_NAME_BYTES])
{
	snprintf(to, COOKIE_NAME_BYTES, "roger-%d-%016llx", serve->port,
		 (unsigned long long)rg_hash(1, serve->workspace, strlen(serve->workspace)));
}

/* Read the next value of a name from "a=b; c=d"; false: there is none. */
static bool next_cookie(const char **header, const char *name, char value[SERVE_SECRET_BYTES])
{
	size_t length = strlen(name), rest;
	const char *at;

	while (**header) {
		*header += strspn(*header, "; ");
		at = *header;
		rest = strcspn(at, ";");
		*header += rest;
		if (rest <= length || strncmp(at, name, length) != 0 || at[length] != '=')
			continue;
		snprintf(value, SERVE_SECRET_BYTES, "%.*s", (int)(rest - length - 1),
			 at + length + 1);
		return true;
	}
	return false;
}

/* Find the login in a request's cookies; false: none is valid now. */
static bool find_login(struct serve *serve, struct evhttp_request *request,
		       char secret[SERVE_SECRET_BYTES], struct serve_caller *ret)
{
	const char *header = serve_header(request, "Cookie");
	char name[COOKIE_NAME_BYTES];

	name_cookie(serve, name);
	/* Another server of this host may have set a cookie of the same name. */
	while (header && next_cookie(&header, name, secret))
		if (serve_token_find(serve, SERVE_LOGIN, secret, ret))
			return true;
	return false;
}

static void set_cookie(const struct serve *serve, struct evhttp_request *request, const char *value,
		       const char *more)
{
	const char *origin = serve_header(request, "Origin");
	/* Not Secure over plain HTTP: there a browser would not take it. */
	bool tls = origin && strncmp(origin, "https://", 8) == 0;
	char name[COOKIE_NAME_BYTES], line[256];

	name_cookie(serve, name);
	snprintf(line, sizeof line, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s%s", name, value,
		 tls ? "; Secure" : "", more);
	serve_set_header(request, "Set-Cookie", line);
}

/* ------------------------------------------------------- where a request is from -- */

/* Is the origin, "http://HOST", of the host that was asked for? */
static bool is_own_origin(const char *origin, const char *host)
{
	const char *rest = strstr(origin, "://");

	return rest && evutil_ascii_strcasecmp(rest + 3, host) == 0;
}

/* Why a request comes from the wrong place; NULL: from our page, or a person at the browser. */
static const char *place_fault(struct evhttp_request *request)
{
	const char *site = serve_header(request, "Sec-Fetch-Site");
	const char *origin = serve_header(request, "Origin");
	bool looks = serve_is_look(request);

	if (origin && !is_own_origin(origin, serve_header(request, "Host")))
		return "expected the host of the header 'Host' in the header 'Origin'";
	if (site && evutil_ascii_strcasecmp(site, "same-origin") == 0)
		return NULL;
	if (site && looks && evutil_ascii_strcasecmp(site, "none") == 0)
		return NULL;
	return "expected the header 'Sec-Fetch-Site: same-origin' beside the cookie: a login is "
	       "for pages of this server; programs send 'Authorization: Bearer TOKEN'";
}

bool serve_login_find(const struct serve_door *door, struct evhttp_request *request,
		      struct serve_caller *ret, const char **ret_fault)
{
	char secret[SERVE_SECRET_BYTES];

	*ret_fault = NULL;
	if (!find_login(door->serve, request, secret, ret))
		return false;
	*ret_fault = place_fault(request);
	return !*ret_fault;
}

/* ------------------------------------------------------------------ session -- */

/* The time zone, "Europe/Berlin" if anything names it, else as the C library calls it. */
static const char *find_zone(char to[256])
{
	const char *said = getenv("TZ"), *found;
	ssize_t length = readlink("/etc/localtime", to, 255);

	if (said && *said)
		return said + (*said == ':');
	to[length > 0 ? length : 0] = '\0';
	found = strstr(to, "zoneinfo/");
	tzset();
	return found ? found + strlen("zoneinfo/") : tzname[0];
}

static void print_session(const struct serve *serve, const struct serve_caller *caller,
			  struct serve_answer *answer)
{
	char zone[256];
	const struct rg_server_session session = {
		.name = rg_str(caller->name),
		.workspace = rg_str(serve->workspace),
		.zone = rg_str(find_zone(zone)),
		.url = rg_str(serve->url),
		.version = RG_STR(ROGER_VERSION),
		.right = caller->own ? RG_OWN : (int)caller->right,
	};

	answer->status = 200;
	answer->type = "application/json";
	rg_words_encode(&rg_server_session_record, &session, &answer->body);
	rg_buf_add_char(&answer->body, '\n');
}

void serve_on_session(struct serve *serve, struct evhttp_request *request,
		      const struct serve_caller *caller)
{
	struct serve_answer answer = { .body = { .maximum = SIZE_MAX } };

	print_session(serve, caller, &answer);
	serve_send(request, &answer);
}

/* -------------------------------------------------------------------- login -- */

struct login {
	char given[SERVE_SECRET_BYTES], secret[SERVE_SECRET_BYTES];
};

/* Read the key from the request, whose body may be anything; it must be valid. */
static int read_key(struct evhttp_request *request, struct serve_job *job, struct login *login,
		    struct roger_err *err)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(request);
	size_t length = evbuffer_get_length(body);
	struct roger_str text = { (const char *)evbuffer_pullup(body, -1), length }, key = { 0 };
	struct serve_caller caller;
	const struct rg_json *json;
	int r;

	if (length > SERVE_LOGIN_BYTES_MAX || !rg_arena_copy(job->arena, text, &text))
		return rg_fail(err, ROGER_EDATA, 0, "expected a key and nothing else");
	r = rg_json_read_within(text, job->arena, &json, err);
	if (r == ROGER_OK && rg_json_kind(rg_json_root(json)) != RG_JSON_OBJECT)
		r = rg_fail(err, ROGER_EDATA, 0, "expected the key as a JSON object");
	if (r == ROGER_OK)
		r = rg_words_decode(&rg_login_key_record, rg_json_root(json), &key, job->arena,
				    err);
	if (r < 0)
		return r;
	snprintf(login->given, sizeof login->given, "%.*s", RG_STR_CUT(key));
	if (!serve_token_find(job->serve, SERVE_KEY, login->given, &caller))
		return rg_fail_member(err, ROGER_EREFUSED, "key", "%s", serve_key_fault);
	return ROGER_OK;
}

static void trade_key(struct serve_job *job, struct roger *roger)
{
	struct login *login = job->request;
	struct serve_caller caller;
	struct roger_err err = { 0 };
	int r;

	(void)roger;
	r = serve_key_trade(job->serve->workspace, login->given, login->secret, &caller, &err);
	if (r < 0)
		serve_fail(&job->answer, r, &err);
	else
		print_session(job->serve, &caller, &job->answer);
}

static void end_login(struct serve_job *job, struct roger *roger)
{
	const struct login *login = job->request;
	struct roger_err err = { 0 };
	int r = serve_login_end(job->serve->workspace, login->given, &err);

	(void)roger;
	if (r < 0)
		serve_fail(&job->answer, r, &err);
	else
		job->answer.status = 204;
}

/* Set or clear the cookie, and send the answer. */
static void finish_login(struct serve_job *job)
{
	const struct login *login = job->request;
	const bool in = *login->secret;

	if (job->answer.status < 300)
		set_cookie(job->serve, job->http, login->secret,
			   in ? "; Max-Age=604800" : "; Max-Age=0");
	serve_send(job->http, &job->answer);
}

/* NULL: out of memory; the request was refused. */
static struct serve_job *new_job(struct serve *serve, struct evhttp_request *request,
				 void (*work)(struct serve_job *job, struct roger *roger))
{
	static const struct roger_record place = { .size = sizeof(struct login) };
	static const struct roger_op verb = { .name = "login", .request = &place };
	struct serve_job *job = serve_job_new(serve, &verb, request);

	if (job) {
		job->work = work;
		job->finish = finish_login;
	}
	return job;
}

void serve_on_login(struct serve *serve, struct evhttp_request *request,
		    const struct serve_caller *nobody)
{
	struct serve_job *job = new_job(serve, request, trade_key);
	struct roger_err err = { 0 };
	int r = job ? read_key(request, job, job->request, &err) : ROGER_OK;

	(void)nobody;
	if (r < 0)
		serve_job_fail(job, r, &err);
	else if (job)
		serve_job_begin(job);
}

void serve_on_logout(struct serve *serve, struct evhttp_request *request,
		     const struct serve_caller *nobody)
{
	struct serve_job *job = new_job(serve, request, end_login);
	struct login *login = job ? job->request : NULL;
	struct serve_caller caller;

	(void)nobody;
	if (!job)
		return;
	if (!find_login(serve, request, login->given, &caller))
		*login->given = '\0';
	serve_job_begin(job);
}

/* ---------------------------------------------------------------- `roger ui` -- */

/* Find the address of the page of the workspace's running server. */
static int find_url(struct serve *serve, struct rg_arena *arena, struct roger_err *err)
{
	struct rg_server_session session = { 0 };
	char path[4200];
	int r = serve_socket_path(serve->options, serve->workspace, path, err);

	if (r < 0)
		return r;
	if (!rg_find_server(path, arena, &session))
		return rg_fail(err, ROGER_EENGINE, 0,
			       "this workspace has a server, which does not answer at '%s'; where "
			       "it is elsewhere, say so with --socket",
			       path);
	snprintf(serve->url, sizeof serve->url, "%.*s", RG_STR_ARGS(session.url));
	return ROGER_OK;
}

/* Over ssh, the browser is on another machine. */
static void tell_ssh(const char *url, const struct cli_run *run)
{
	const char *port = strrchr(url, ':') + 1;

	if (!run->quiet && getenv("SSH_CONNECTION") && strncmp(url, "http://", 7) == 0)
		cli_say_to(stderr, "over ssh: `ssh -L %s:127.0.0.1:%s HOST`, and open it there\n",
			   port, port);
}

int serve_open_page(const struct serve *serve, const struct cli_run *run, struct roger_err *err)
{
	struct serve_caller whose = {
		.right = (enum rg_right)(serve->ui->right ? serve->ui->right : RG_ACT),
	};
	char key[SERVE_SECRET_BYTES], url[sizeof serve->url + sizeof key + 8];
	int r;

	if (!*serve->url)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "the server of this workspace listens on its unix socket alone; end "
			       "it, or start it with --listen 127.0.0.1:8484");
	snprintf(whose.name, sizeof whose.name, "%.*s",
		 RG_STR_ARGS(serve->ui->name.length ? serve->ui->name : RG_STR("human")));
	r = serve_key_make(serve->workspace, &whose, key, err);
	if (r < 0)
		return r;
	snprintf(url, sizeof url, "%s/#k=%s", serve->url, key);
	cli_say("%s\n", url);
	cli_term_flush();
	if (!run->quiet)
		cli_say_to(stderr,
			   "open this link within a minute (it works once): "
			   "you are %s, who may %s\n",
			   whose.name, rg_right_names[whose.right]);
	tell_ssh(serve->url, run);
	cli_browse(url);
	return ROGER_OK;
}

int serve_ui_run(struct cli_run *run, struct roger_err *err)
{
	const struct roger_empty_request none = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_config_reply config = { 0 };
	const struct rg_ui_request *request = run->request;
	/* If no server runs yet, this process becomes it. */
	const struct rg_serve_request own = { .socket = request->socket,
					      .listen = request->listen.length
								? request->listen
								: RG_STR("127.0.0.1:8484") };
	struct serve serve = { .options = &own, .ui = request };
	int r;

	if (roger_hold(run->roger, "serve"))
		return serve_run_held(run, &own, request, err);
	r = roger_config(run->roger, &none, &config, err);
	if (r < 0)
		return r;
	serve.workspace = config.workspace.data;
	r = find_url(&serve, run->arena, err);
	return r < 0 ? r : serve_open_page(&serve, run, err);
}
