/* doctor: check the seal's key, and folders, files and their permissions. */
#include "proof/doctor.h"

#include "host/places.h"

static int check_seal(struct rg_doctor *doctor, struct roger_err *err)
{
	struct roger_breach breach = rg_breach(ROGER_BREACH_SEAL, ROGER_DAMAGE, RG_STR("seal.key"));
	struct rg_seal_key key;
	const char *wrong;
	bool half = false;
	int r = rg_seal_key_check(doctor->engine->workspace, doctor->scratch, &wrong, &half, err);

	/* A folder or a link with the name of a key. */
	if (r == ROGER_EREFUSED)
		wrong = err->message;
	else if (r < 0 || !wrong)
		return r;
	if (half)
		breach.severity = ROGER_REPAIRABLE;
	rg_doctor_report(doctor, breach, "%s", wrong);
	if (half && doctor->wish->fix &&
	    rg_engine_seal_key(doctor->engine, true, doctor->scratch, &key, err) == ROGER_OK)
		rg_doctor_fixed(doctor);
	return ROGER_OK;
}

static int report_place(void *context, const struct roger_breach *problem, bool fixed,
			struct roger_err *err)
{
	struct rg_doctor *doctor = context;

	(void)err;
	rg_doctor_report(doctor, *problem, "%.*s", RG_STR_ARGS(problem->what));
	if (fixed)
		rg_doctor_fixed(doctor);
	return ROGER_OK;
}

/* The files of a configured data folder are not checked, as it may hold other programs' files. */
int rg_doctor_places(struct rg_doctor *doctor, struct roger_err *err)
{
	struct rg_workspace *workspace = doctor->engine->workspace;
	int r;

	r = check_seal(doctor, err);
	if (r < 0 || !rg_str_is(workspace->config->data_dir, RG_WORKSPACE_FOLDER))
		return r;
	return rg_places_check(workspace->data, doctor->wish->fix, report_place, doctor, err);
}
