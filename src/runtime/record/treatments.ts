import type { CallError } from '../../contract/base/errors.ts'
import type { Issue, Json } from '../../contract/base/json.ts'
import type { Treatment } from '../../contract/obligations.ts'
import type { Registered } from '../../contract/registry.ts'
import type { ResultMetadata, ToolOutput } from '../../contract/base/result.ts'
import { callError } from '../../kit/result/call-error.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { mapTexts, type Redactor } from '../../kit/secrets/redact.ts'
import { withoutProject } from '../../kit/without-project.ts'
import type { TenantContext, CallScope } from '../state/scope.ts'
import type { Halted } from '../state/call-state.ts'

/** What the policy owes for this tool; undefined if that is nothing. */
export function treatmentOf(
  registered: Registered | undefined,
  { tenant }: CallScope,
): Treatment | undefined {
  return registered === undefined ? undefined : tenant.obligations?.of(registered.definition)
}

/** Hides secrets, and what the policy obliges to hide for this tool, wherever a call leaves text. */
export function redactorOf(registered: Registered | undefined, scope: CallScope): Redactor {
  const { redactor } = scope.tenant
  const treatment = treatmentOf(registered, scope)
  if (treatment === undefined) return redactor
  const text = (value: string): string => treatment.text(redactor.text(value))
  return { ...redactor, text, json: (value) => mapTexts(value, text), mayHold: () => true }
}

/** The same for bytes that are read one letter a byte, as a stream of them is. The treatment reads them as UTF-8. */
export function byteRedactorOf(registered: Registered | undefined, scope: CallScope): Redactor {
  const { redactor } = scope.tenant
  const treatment = treatmentOf(registered, scope)
  if (treatment === undefined) return redactor
  const text = (letters: string): string => {
    const clean = redactor.text(letters)
    const read = Buffer.from(clean, 'latin1').toString()
    const treated = treatment.text(read)
    return treated === read ? clean : Buffer.from(treated).toString('latin1')
  }
  return { ...redactor, text, json: (value) => mapTexts(value, text), mayHold: () => true }
}

/** The error with its texts redacted; its code is ours and stays. */
export function redactError(error: CallError, redactor: Redactor): CallError {
  const { reason, message, issues, data } = error
  return {
    ...error,
    reason: toWord(redactor.text(reason)),
    message: redactor.text(message),
    ...(issues !== undefined && { issues: redactor.json(issues) }),
    ...(data !== undefined && { data: redactor.json(data) }),
  }
}

/**
 * An error as it goes back: nothing in it is hidden, and the project goes by no path of this machine, unless it stands in a command that the
 * operator has to type.
 */
export function showError(error: CallError, { project }: Pick<TenantContext, 'project'>): CallError {
  const message = showControls(error.message)
  return {
    ...error,
    message: error.code === 'SANDBOX.UNAVAILABLE' ? message : withoutProject(message, project),
  }
}

/** A reason stands in metrics, in logs and in one line for a model: a tool may have put anything into its own. */
function toWord(reason: string): string {
  return /^[\w.:-]{1,80}$/.test(reason) ? reason : reason.replaceAll(/[^\w.:-]+/g, '_').slice(0, 80)
}

/** What a tool gave as it may leave, and what is to be said of it; or why it may not. */
export function treatOutput(
  output: ToolOutput,
  state: Halted['state'],
  { scope, findIssues }: { scope: CallScope; findIssues: (data: Json) => readonly Issue[] },
): { output: ToolOutput; metadata: Partial<ResultMetadata> } | CallError {
  const treatment = treatmentOf(state.registered, scope)
  if (treatment === undefined) return { output, metadata: {} }
  const { tenant, actor } = scope.session.principal
  const about = { tenant, actor, call: state.call.id, at: scope.tenant.now(), findIssues }
  const treated = treatment.output(output, about)
  if (!('failed' in treated)) return treated
  const ids = treated.failed.map((id) => `"${id}"`).join(', ')
  return callError('POLICY.DENY_TOOL', 'obligation_failed', {
    message: `"${state.registered?.definition.name ?? ''}" ran, and its result is withheld: the policy's obligation ${ids} could not be carried out on it.`,
    data: { obligations: [...treated.failed] },
  })
}
