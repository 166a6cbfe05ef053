// Copyright 2026 The robot_identification authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

/* FMI 2.0 co-simulation of generated dynamics. What comes before includes their header and defines
 * N (joints), FORWARD (1: motion under torques, 0: torques of a motion), STATUS (whether
 * forward_dynamics returns a status), SUBSTEP [s] and DYNAMICS(function), the name of a generated
 * function. */
#include <stdlib.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT
#endif

typedef unsigned int Reference;
typedef int Boolean;
typedef int Status;
enum { OK = 0, WARNING = 1, ERROR = 3 };
typedef struct { double x[4][N]; } Unit;

#if FORWARD
static int accelerate(const double q[N], const double v[N], const double tau[N], double a[N])
{
#if STATUS
  return DYNAMICS(forward_dynamics)(q, v, tau, a);
#else
  DYNAMICS(forward_dynamics)(q, v, tau, a);
  return 0;
#endif
}
#endif

/* Returns OK, or WARNING if forward dynamics did not converge. */
static Status evaluate(Unit *u)
{
#if FORWARD
  return accelerate(u->x[0], u->x[1], u->x[3], u->x[2]) ? WARNING : OK;
#else
  DYNAMICS(inverse_dynamics)(u->x[0], u->x[1], u->x[2], u->x[3]);
  return OK;
#endif
}

#if FORWARD
static int advance(Unit *u, double h)
{
  static const double part[4] = {0.0, 0.5, 0.5, 1.0};
  static const double weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  double q[N], v[N], dq[N], dv[N], a[N];
  double kq[N] = {0.0}, kv[N] = {0.0};
  int i, k, failed = 0;
  for (i = 0; i < N; ++i) { dq[i] = 0.0; dv[i] = 0.0; }
  for (k = 0; k < 4; ++k) {
    for (i = 0; i < N; ++i) {
      q[i] = u->x[0][i] + part[k] * h * kq[i];
      v[i] = u->x[1][i] + part[k] * h * kv[i];
    }
    failed |= accelerate(q, v, u->x[3], a);
    for (i = 0; i < N; ++i) {
      kq[i] = v[i];
      kv[i] = a[i];
      dq[i] += weight[k] * kq[i];
      dv[i] += weight[k] * kv[i];
    }
  }
  for (i = 0; i < N; ++i) { u->x[0][i] += h * dq[i]; u->x[1][i] += h * dv[i]; }
  return failed;
}
#endif

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources,
                             const void *callbacks, Boolean visible, Boolean logging)
{
  (void)name; (void)type; (void)guid; (void)resources; (void)callbacks; (void)visible;
  (void)logging;
  return calloc(1, sizeof(Unit));
}
EXPORT void fmi2FreeInstance(void *c) { free(c); }
EXPORT Status fmi2Reset(void *c) { *(Unit *)c = (Unit){{{0.0}}}; return OK; }
EXPORT Status fmi2GetReal(void *c, const Reference r[], size_t n, double value[])
{
  const Status status = evaluate(c);
  size_t k;
  for (k = 0; k < n; ++k) {
    if (r[k] >= 4 * N) { return ERROR; }
    value[k] = ((Unit *)c)->x[r[k] / N][r[k] % N];
  }
  return status;
}
EXPORT Status fmi2SetReal(void *c, const Reference r[], size_t n, const double value[])
{
  size_t k;
  for (k = 0; k < n; ++k) {
    if (r[k] >= 4 * N) { return ERROR; }
    ((Unit *)c)->x[r[k] / N][r[k] % N] = value[k];
  }
  return OK;
}
EXPORT Status fmi2DoStep(void *c, double t, double step, Boolean keep)
{
  int failed = 0;
  (void)t; (void)keep;
#if FORWARD
  {
    const int count = (int)(step / SUBSTEP) + 1;
    int k;
    for (k = 0; k < count; ++k) { failed |= advance(c, step / count); }
  }
#else
  (void)step;
#endif
  return evaluate(c) != OK || failed ? WARNING : OK;
}

/* Nothing to do. */
EXPORT Status fmi2SetDebugLogging(void *c, Boolean on, size_t n, const char *const names[])
{
  (void)c; (void)on; (void)n; (void)names; return OK;
}
EXPORT Status fmi2SetupExperiment(void *c, Boolean tolerant, double tolerance, double start,
    Boolean ends, double stop)
{
  (void)c; (void)tolerant; (void)tolerance; (void)start; (void)ends; (void)stop; return OK;
}
EXPORT Status fmi2EnterInitializationMode(void *c)
{
  (void)c; return OK;
}
EXPORT Status fmi2ExitInitializationMode(void *c)
{
  (void)c; return OK;
}
EXPORT Status fmi2Terminate(void *c)
{
  (void)c; return OK;
}
EXPORT Status fmi2CancelStep(void *c)
{
  (void)c; return OK;
}
/* Not supported. */
EXPORT Status fmi2GetInteger(void *c, const Reference r[], size_t n, int value[])
{
  (void)c; (void)r; (void)n; (void)value; return ERROR;
}
EXPORT Status fmi2GetBoolean(void *c, const Reference r[], size_t n, Boolean value[])
{
  (void)c; (void)r; (void)n; (void)value; return ERROR;
}
EXPORT Status fmi2GetString(void *c, const Reference r[], size_t n, const char * value[])
{
  (void)c; (void)r; (void)n; (void)value; return ERROR;
}
EXPORT Status fmi2SetInteger(void *c, const Reference r[], size_t n, const int value[])
{
  (void)c; (void)r; (void)n; (void)value; return ERROR;
}
EXPORT Status fmi2SetBoolean(void *c, const Reference r[], size_t n, const Boolean value[])
{
  (void)c; (void)r; (void)n; (void)value; return ERROR;
}
EXPORT Status fmi2SetString(void *c, const Reference r[], size_t n, const char *const value[])
{
  (void)c; (void)r; (void)n; (void)value; return ERROR;
}
EXPORT Status fmi2GetFMUstate(void *c, void **state)
{
  (void)c; (void)state; return ERROR;
}
EXPORT Status fmi2SetFMUstate(void *c, void *state)
{
  (void)c; (void)state; return ERROR;
}
EXPORT Status fmi2FreeFMUstate(void *c, void **state)
{
  (void)c; (void)state; return ERROR;
}
EXPORT Status fmi2SerializedFMUstateSize(void *c, void *state, size_t *size)
{
  (void)c; (void)state; (void)size; return ERROR;
}
EXPORT Status fmi2SerializeFMUstate(void *c, void *state, char bytes[], size_t size)
{
  (void)c; (void)state; (void)bytes; (void)size; return ERROR;
}
EXPORT Status fmi2DeSerializeFMUstate(void *c, const char bytes[], size_t size, void **state)
{
  (void)c; (void)bytes; (void)size; (void)state; return ERROR;
}
EXPORT Status fmi2GetDirectionalDerivative(void *c, const Reference u[], size_t nu, const
    Reference k[], size_t nk, const double dk[], double du[])
{
  (void)c; (void)u; (void)nu; (void)k; (void)nk; (void)dk; (void)du; return ERROR;
}
EXPORT Status fmi2SetRealInputDerivatives(void *c, const Reference r[], size_t n, const int
    order[], const double value[])
{
  (void)c; (void)r; (void)n; (void)order; (void)value; return ERROR;
}
EXPORT Status fmi2GetRealOutputDerivatives(void *c, const Reference r[], size_t n, const int
    order[], double value[])
{
  (void)c; (void)r; (void)n; (void)order; (void)value; return ERROR;
}
EXPORT Status fmi2GetStatus(void *c, int kind, Status *value)
{
  (void)c; (void)kind; (void)value; return ERROR;
}
EXPORT Status fmi2GetRealStatus(void *c, int kind, double *value)
{
  (void)c; (void)kind; (void)value; return ERROR;
}
EXPORT Status fmi2GetIntegerStatus(void *c, int kind, int *value)
{
  (void)c; (void)kind; (void)value; return ERROR;
}
EXPORT Status fmi2GetBooleanStatus(void *c, int kind, Boolean *value)
{
  (void)c; (void)kind; (void)value; return ERROR;
}
EXPORT Status fmi2GetStringStatus(void *c, int kind, const char **value)
{
  (void)c; (void)kind; (void)value; return ERROR;
}
