import { ToolFailure } from '../../contract/base/errors.ts'
import type { Plan } from '../../contract/tool/plan.ts'
import type { Tool, ToolDefinition } from '../../contract/tool/tool.ts'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import { toDefinition } from '../../define/to-definition.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { readJsonObject } from '../../kit/json/is-json-object.ts'
import { hostOf } from '../../kit/match/host-of.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'
import { toolUrn } from '../../kit/match/urn.ts'
import { nameLine } from '../../kit/text/one-line.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import type { Agent, KnownAgent } from './agent.ts'
import { callAgent } from './call-agent.ts'
import { toSourceName, type Skill } from './skills.ts'

/** Where the facts of a skill stand in the metadata of its tool. */
const factsKey = 'a2a'

/** What of a definition an agent writes. All else is the operator's word. */
export const fieldsOfAgents = [
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  `metadata.${factsKey}.seen`,
] as const

/** A card that was read so long ago is read again before a call: what it says now is what is approved, or nothing is sent. */
const cardMs = 30_000

/** A skill as a tool. Its calls go to its agent, as long as that says of it what it said when it was approved. */
export function toTool(
  skill: Skill,
  agent: Agent,
  { host, onLook }: { host: FeedHost; onLook: (tenant: string, known: KnownAgent) => Promise<void> },
): Tool {
  const about = { agent: agent.name, tool: skill.name }
  return {
    definition: toSkillDefinition(skill, agent),
    plan(input) {
      const given = readJsonObject(input)
      refuseSecrets(given, about.tool, host)
      return toPlan(skill, agent, canonicalJson(given))
    },
    async run(input, context) {
      const { tenant } = context.principal
      const known = await agent.look(tenant, cardMs)
      await onLook(tenant, known)
      const now = known.skills.found.find(({ name }) => name === skill.name)
      if (now?.seen !== skill.seen) throw refuseOther(skill, now)
      return callAgent(known, { skill, input: readJsonObject(input), about }, context)
    },
  }
}

/** The same from a definition that is remembered; undefined for one that no agent gave. */
export function recallSkill(definition: ToolDefinition): Skill | undefined {
  const facts = definition.metadata[factsKey]
  if (!isPlainObject(facts)) return undefined
  const { skill: id, kind, seen } = facts
  if (typeof id !== 'string' || typeof seen !== 'string') return undefined
  const { name, title, description, inputSchema, outputSchema } = definition
  return {
    name,
    id,
    kind: kind === 'ask' ? 'ask' : 'call',
    title,
    description,
    inputSchema: readJsonObject(inputSchema),
    outputSchema: outputSchema === undefined ? undefined : readJsonObject(outputSchema),
    seen,
  }
}

function toSkillDefinition(skill: Skill, { name: agent, options }: Agent): ToolDefinition {
  const { card, tools = {}, timeoutMs } = options
  const isReadonly = (tools.readonly ?? []).some((pattern) => matchPattern(pattern, skill.id))
  const permission = isReadonly ? 'readonly' : 'write'
  return {
    ...toDefinition(
      {
        name: skill.name,
        title: skill.title,
        description: skill.description,
        tags: ['a2a', 'network', ...(isReadonly ? ['readonly'] : [])],
        metadata: { [factsKey]: { agent, skill: skill.id, kind: skill.kind, seen: skill.seen } },
        permission,
        sideEffect: 'network',
        safety: 'medium',
        scopes: [{ resource: toolUrn(skill.name), action: isReadonly ? 'read' : 'write' }],
        capabilities: { net: { hosts: [hostPattern(card)] } },
        limits: { ...(timeoutMs !== undefined && { timeoutMs }) },
        idempotency: isReadonly ? 'none' : 'optional',
      },
      { input: skill.inputSchema, output: skill.outputSchema, needs: [] },
    ),
  }
}

function hostPattern(card: string): string {
  return hostOf(new URL(card))
}

/** A token names the very input, and nothing of it is changed on its way: what must not leave is not sent at all. */
function refuseSecrets(input: object, tool: string, host: FeedHost): void {
  const text = canonicalJson(input)
  if (host.redact(text) === text) return
  throw new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'secret_leaves',
    message: `The input of "${tool}" has a secret in it, or what looks like one, and would leave this domain. Nothing was sent. Call it without the secret.`,
  })
}

function toPlan({ id }: Skill, { name, options }: Agent, input: string): Plan {
  const url = new URL(options.card)
  return {
    operations: [{ kind: 'net', host: hostOf(url), url: url.href }],
    scope: `${toSourceName(name)}, ${hostOf(url)}`,
    preview: {
      kind: 'text',
      title: `Ask the agent ${name} for ${nameLine(id)}`,
      body: [`at ${url.host}`, showControls(JSON.stringify(JSON.parse(input), null, 2))].join('\n'),
    },
  }
}

function refuseOther({ name }: Skill, now: Skill | undefined): ToolFailure {
  const because = now === undefined ? 'gone' : 'definition_pending'
  return new ToolFailure({
    code: 'POLICY.DENY_TOOL',
    reason: now === undefined ? 'tool_not_available' : 'definition_pending',
    message:
      now === undefined
        ? `"${name}" cannot be used: its agent does not offer it any more. Go on without it.`
        : `"${name}" cannot be used: its definition changed at its agent and waits for the approval of the operator. Go on without it.`,
    data: { because },
  })
}
