import type { ApprovalRequest } from '../../contract/approval.ts'
import type { Preview } from '../../contract/tool/plan.ts'
import type { Redactor } from '../../kit/secrets/redact.ts'
import { showControls, showControlsInLine } from '../../kit/text/show-controls.ts'
import type { Planned } from '../state/call-state.ts'
import { redactorOf } from '../record/treatments.ts'
import type { CallScope } from '../state/scope.ts'
import type { Asked } from './asked.ts'
import { thisInput } from './session-approvals.ts'

/** What is shown of a plan: no control character in it is, and nothing that the policy obliges to hide. If the tool returns no preview, the input itself. */
export function previewOf(planned: Planned, scope: CallScope): Preview {
  return toShown(planned.preview ?? inputPreview(planned), redactorOf(planned.registered, scope))
}

function toShown({ kind, title, body, asOfNow }: Preview, redactor: Redactor): Preview {
  const whole = asOfNow === undefined ? body : `${body}\n\n${asOfNow}`
  return {
    kind,
    title: showControlsInLine(redactor.text(title)),
    body: showControls(redactor.text(whole)),
  }
}

/** What is shown of a call whose tool shows nothing itself. */
export function inputPreview({ registered, input, kept }: Planned): Preview {
  const body = JSON.stringify(input, null, 2)
  const { title } = registered.definition
  if (kept === undefined) return { kind: 'text', title: `${title} with this input`, body }
  const { call, at } = kept.begin
  const when = new Date(at).toISOString()
  return {
    kind: 'text',
    title: `${title}: the result of the earlier call ${call} (${when}) is given again; nothing runs`,
    body,
  }
}

const keptScope = 'this earlier result only'

/** What a person is told of a call, with nothing of it hidden but what the redactor takes out. */
export function toRequest(
  { hooked, decision, preview, ran }: Asked,
  scope: CallScope,
  redactor: Redactor = scope.tenant.redactor,
): ApprovalRequest {
  const { tenant, session } = scope
  const { definition } = hooked.registered
  const commands = hooked.plan.operations.filter((operation) => operation.kind === 'process')
  const hosts = hooked.plan.operations.filter((operation) => operation.kind === 'net')
  const dangerous = definition.safety === 'high' || definition.tags.includes('dangerous')
  const shown = (text: string): string => showControlsInLine(redactor.text(text))
  return {
    callId: hooked.call.id,
    toolCallId: hooked.call.toolCallId,
    session: session.id,
    principal: session.principal,
    tool: definition.name,
    title: definition.title,
    permission: definition.permission,
    tags: [...definition.tags],
    dangerous,
    inputSummary: showControlsInLine(summarise(hooked.shownText)),
    scope: shown(hooked.kept === undefined ? (hooked.plan.scope ?? thisInput) : keptScope),
    preview: toShown(preview, redactor),
    ran,
    cwd: commands[0] && shown(commands[0].cwd),
    env: commands.length === 0 ? [] : [...tenant.env],
    hosts: hosts.map((operation) => shown(operation.host)),
    because: {
      ...redactor.json(
        decision.verdicts[0] ?? {
          layer: decision.layer,
          rule: decision.rule,
          effect: 'ask',
          reason: decision.reason,
        },
      ),
    },
    hookNotes: hooked.hookNotes.map((note) => showControls(redactor.text(note))),
    suggested: dangerous ? 'deny' : 'allow_once',
    timeoutMs: tenant.limits.approvalTimeoutMs,
    parents: (session.ancestors ?? []).map(({ session: id, principal: { role, agent } }) => ({
      session: id,
      role,
      ...(agent !== undefined && { agent }),
    })),
  }
}

function summarise(text: string): string {
  return text.length <= 300 ? text : `${text.slice(0, 300)}… (${text.length} characters)`
}
