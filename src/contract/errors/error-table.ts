import type { ErrorRow } from './error-row.ts'
import { toolFailed } from './tool-failed.ts'

export type { Actor, ErrorRow, NextStep } from './error-row.ts'

/**
 * Every error code with who acts, what next, and its reasons. `docs/errors.md` is generated from this table.
 * `TOOL.FAILED` is open: a tool may fail with a reason of its own.
 */
export const errorTable = {
  'SCHEMA.VALIDATION_FAILED': {
    actor: 'model',
    next: 'fix_input',
    meaning: 'A value does not fit its schema.',
    reasons: {
      invalid_call:
        'The call itself is malformed: no tool name, input that is not JSON, an option that there is not, or no key where the tool needs one.',
      invalid_input: 'The input does not fit the input schema of the tool.',
      input_too_large: 'The input is larger than the tool accepts.',
      invalid_output:
        'The tool returned data that does not fit its output schema, or a ToolOutput of another form. What it did stands.',
      result_not_serialisable:
        'The tool returned a value that JSON cannot carry, such as a function, a symbol or a cycle. What it did stands.',
    },
    except: {
      invalid_output: { actor: 'developer', next: 'report' },
      result_not_serialisable: { actor: 'developer', next: 'report' },
    },
  },
  'POLICY.DENY_TOOL': {
    actor: 'operator',
    next: 'try_another',
    meaning: 'The tool may not be used for this call.',
    reasons: {
      tool_not_available: 'The tool is unknown, or not in the effective set of this session.',
      rule_denied: 'A rule denies the call.',
      role_denied: 'The role of the caller may never use this tool.',
      mode_denied: 'The mode of the session does not allow the call, such as a write in plan mode.',
      model_denied: 'The tool works with other providers or models than the one that the session names.',
      paused: 'The tool is paused.',
      calls_paused:
        'A person paused the tool, its server, the caller, the tenant or everything. The message says who, and why.',
      deprecated: 'The tool is deprecated and no longer callable.',
      definition_pending: 'The definition changed at its source and waits for approval.',
      kept_undecided:
        'The result of an earlier call with this key is kept, and whether this call may have it cannot be told.',
      obligation_failed:
        'What the policy obliges to do to the result could not be done, so the result is withheld.',
    },
    except: { calls_paused: { actor: 'operator', next: 'stop' } },
  },
  'POLICY.HOOK_DENIED': {
    actor: 'operator',
    next: 'try_another',
    meaning: 'A PreToolUse hook stopped the call.',
    reasons: {
      hook_denied: 'The hook said no.',
      hook_failed: 'The hook failed, timed out or answered something else than its protocol; that denies.',
    },
  },
  'POLICY.APPROVAL_DENIED': {
    actor: 'person',
    next: 'stop_or_ask',
    meaning: 'The call needed a yes from a person and did not get one that still holds.',
    reasons: {
      denied: 'The person said no.',
      no_callback: 'The call needs a person, and none can be asked.',
      callback_failed: 'Asking failed, or the answer was none of allow_once, allow_for_session and deny.',
      callback_timeout: 'The person did not answer in time.',
      approval_stale:
        'What was approved is no longer what would happen: the file, the definition or the policy changed, or the approval expired.',
    },
  },
  'AUTH.UNAUTHENTICATED': {
    actor: 'operator',
    next: 'stop',
    meaning: 'The caller is not known.',
    reasons: { no_principal: 'The request carries no principal.' },
  },
  'AUTH.FORBIDDEN': {
    actor: 'operator',
    next: 'stop',
    meaning: 'The caller is known and may not do this.',
    reasons: {
      no_grant: 'Nothing grants the principal this action on this resource.',
      scope_missing: 'The principal lacks a scope that the tool requires.',
      tenant_mismatch: 'The thing belongs to another tenant.',
      decision_point_denied: 'An external decision point forbids it.',
      decision_point_failed: 'A decision point failed or gave no valid answer; that forbids.',
    },
  },
  'AUTH.CONSENT_REQUIRED': {
    actor: 'person',
    next: 'wait',
    meaning: 'The call needs a consent that is not there.',
    reasons: {
      consent_missing: 'The call has no consent.',
      consent_expired: 'The consent has expired.',
      consent_revoked: 'The consent was revoked.',
    },
  },
  'QUOTA.BUDGET_EXCEEDED': {
    actor: 'operator',
    next: 'wait',
    meaning: 'A budget is used up.',
    reasons: {
      calls: 'The number of calls.',
      bytes: 'The bytes that go in or out.',
      cpu_ms: 'CPU time.',
      wall_ms: 'Time that calls run.',
      cost: 'Cost units of the tools.',
      tokens: 'Tokens of language models.',
      money: 'What the tokens of language models cost.',
      agents: 'The agents that a session may start.',
      program_calls: 'The calls that one program may make.',
      repeats: 'The same call with the same input and the same result, too often in one session.',
    },
  },
  'QUOTA.RATE_LIMITED': {
    actor: 'operator',
    next: 'wait',
    meaning:
      'Too much in a short time, or at the same time. `data.retryAfterMs` says when to come again, where that is known.',
    reasons: {
      calls: 'The number of calls.',
      bytes: 'The bytes that go in or out.',
      cpu_ms: 'CPU time.',
      wall_ms: 'Time that calls run.',
      cost: 'Cost units of the tools.',
      tokens: 'Tokens of language models.',
      money: 'What the tokens of language models cost.',
      approvals: 'So many calls of the actor wait for a person already.',
      concurrency:
        'Too many calls of the tool run already, and none ended within the time limit of this one; or too many jobs of the session run.',
    },
  },
  'SANDBOX.CAPABILITY_BLOCKED': {
    actor: 'model',
    next: 'try_another',
    meaning: 'The call reaches for something outside its profile.',
    reasons: {
      path_outside_roots: 'The path lies outside the roots this call may read.',
      write_outside_allowed_roots: 'The path lies outside the roots this call may write.',
      sensitive_path: 'The path is sensitive, and no rule or person allowed it.',
      protected_path:
        'Other programs run or obey the file without asking, such as a git hook or the settings of a shell.',
      special_file: 'The path is not a regular file or directory: a device, a pipe or a socket.',
      host_blocked: 'The host, or an address that it stands for, is not allowed.',
      scheme_blocked: 'The URL is neither http nor https.',
      port_blocked: 'The port is not allowed.',
      userinfo_blocked: 'The URL carries a user name or a password.',
      executable_blocked: 'The program is not allowed.',
      argv_flag: 'A value would pass for an option of the program.',
      file_limit: 'The call reads or writes more files than the manifest of its tool allows.',
      secret_leaves: 'The input has a secret in it, and would leave for another domain.',
      undeclared_capability: 'The manifest of the tool does not declare what the call needs.',
    },
  },
  'SANDBOX.UNAVAILABLE': {
    actor: 'operator',
    next: 'stop',
    meaning: 'The sandbox that the call needs is not there. Nothing falls back to the host in silence.',
    reasons: {
      no_backend: 'No backend of the required kind works on this machine.',
      missing_program: 'A program that the sandbox needs is not installed.',
    },
  },
  'TOOL.FAILED': toolFailed,
  'POLICY.APPROVAL_PENDING': {
    actor: 'person',
    next: 'wait',
    meaning: 'The call waits for a yes of a person, and did not run yet.',
    reasons: {
      waiting: 'A person has not decided yet.',
    },
  },
  'TOOL.TIMEOUT': {
    actor: 'model',
    next: 'retry_smaller',
    meaning: 'The tool did not finish in time.',
    reasons: {
      timed_out: 'The tool was stopped at its time limit.',
      still_running: 'The tool ignored its abort and may still be running.',
    },
  },
  'TOOL.ABORTED': {
    actor: 'person',
    next: 'stop',
    meaning: 'The call was ended from outside.',
    reasons: {
      aborted_by_user: 'The caller aborted the call.',
      run_cancelled: 'The turn or the session ended before the call could run.',
      not_run_after_failed_write:
        'An earlier write in the same turn failed or was denied, so this call did not run.',
    },
  },
  'PROVIDER.UNAVAILABLE': {
    actor: 'operator',
    next: 'wait',
    meaning: 'Something that Handrail stands on does not answer, or not in a way that is of use.',
    reasons: {
      upstream_down: 'The server behind the tool does not answer.',
      login_needed:
        'The server behind the tool wants a login, or one with more rights; the message says how the operator logs in.',
      connection_lost:
        'The connection to the server behind the tool was lost while the call ran: whether it was done is not known.',
      rate_limited: 'The server behind the tool limits the rate.',
      store_failed:
        'The store could not write the evidence, so the call was not run or its end is not recorded.',
      history_failed: 'What the call would replace could not be kept for undo, so it was not replaced.',
      fact_changed: 'Another process changed what this was about to change, so nothing was written.',
      document_changed:
        'Another writer changed what this was about to change, so nothing was written. Look at it again.',
      model_failed: 'The language model of a run does not answer, or its provider refuses the request.',
      model_refused: 'The provider of the language model refuses the key.',
      empty_answer: 'The language model answered with neither a text nor a call.',
      answer_cut_off: 'The answer of the language model ended before it was complete.',
      answer_filtered: 'The provider withheld the answer of the language model.',
      wrong_answer: 'The last answer of the language model is not the output that the run asks for.',
      context_full: 'The conversation fills the window of the language model.',
      store_read_only:
        'The store was damaged, deleted, moved, replaced or upgraded and takes no records, so nothing runs on it.',
    },
  },
  'IDEMPOTENCY.CONFLICT': {
    actor: 'developer',
    next: 'stop',
    meaning: 'An idempotency key was used again for something else.',
    reasons: {
      same_key_other_input: 'The key was used before with another input.',
      same_key_other_tool: 'The key was used before for a tool of another source that had this name.',
      key_not_supported: 'The tool takes no idempotency key, or takes it from its input.',
    },
  },
  'IDEMPOTENCY.OUTCOME_UNKNOWN': {
    actor: 'person',
    next: 'check_then_resolve',
    meaning: 'The process died between begin and end: the effect may or may not have happened.',
    reasons: {
      interrupted: 'A crash between begin and end.',
      not_told: 'An agent that runs the call itself never said how it ended.',
    },
  },
  'UNKNOWN.INTERNAL': {
    actor: 'developer',
    next: 'report',
    meaning: 'A defect in Handrail. The cause is in the log, never in the answer to the model.',
    reasons: { internal: 'An unexpected error.' },
  },
} as const satisfies { readonly [code: string]: ErrorRow }
