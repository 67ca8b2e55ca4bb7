import { everyone, type MessageReport, type NewMessage, type SentMessage } from '../../contract/base/teams.ts'
import type { Draft } from '../tasks/draft.ts'
import { refusal, someOf } from '../tasks/refusals.ts'
import { cursorName, memberName, messageName, toStored, type StoredMember } from './names.ts'
import { membersOf, ownTeams, type OwnTeam } from './work.ts'

/** Messages that a member has not read, at most. */
const mostUnread = 1_000

/** Who sends, and what is known of the runs of others. */
export interface Sender {
  readonly session: string
  /** Whether the run of an agent goes on right now. */
  readonly runs: (agent: string) => boolean
}

interface Receiver {
  readonly own: OwnTeam
  readonly name: string
  readonly member: StoredMember
}

/** Puts a message where its receivers find it. */
export function sendMessage(draft: Draft, { to, text }: NewMessage, sender: Sender): MessageReport {
  const teams = openTeams(draft, sender.session)
  const receivers = teams.flatMap((own) =>
    [...membersOf(draft, own.id)].map(([name, member]): Receiver => ({ own, name, member })),
  )
  const post = (receiver: Receiver): SentMessage => postMessage(draft, receiver, { text, sender })
  if (to !== everyone) return { sent: [post(findReceiver(receivers, to, sender.session))], missed: [] }
  const others = withoutDoubles(receivers.filter(({ own, name }) => name !== own.name))
  const sent: SentMessage[] = []
  const missed: { to: string; reason: 'agent_ended' | 'agent_not_run' }[] = []
  for (const receiver of others) {
    const reason = whyNot(receiver.member)
    if (reason === undefined) sent.push(post(receiver))
    else missed.push({ to: receiver.name, reason })
  }
  if (sent.length > 0) return { sent, missed }
  throw refusal(
    'no_receiver',
    `No other member of the team reads messages any more: ${someOf(missed.map(({ to: name }) => name)) || 'it has no other'}. Nothing was sent.`,
  )
}

function openTeams(draft: Draft, session: string): OwnTeam[] {
  const all = ownTeams(draft, session)
  const open = all.filter(({ team }) => !team.deleted)
  if (open.length > 0) return open
  if (all.length === 0)
    throw refusal(
      'no_team',
      'You are in no team, so there are no agents to write to. What you say last goes to the agent that started you.',
    )
  throw refusal(
    'team_deleted',
    `The team "${all.at(-1)?.team.name ?? ''}" was deleted, and no message is taken any more. What you say last goes to the agent that started you.`,
  )
}

/** One agent in two teams is told once. */
function withoutDoubles(receivers: readonly Receiver[]): Receiver[] {
  const seen = new Set<string>()
  return receivers.filter(({ own, name, member }) => {
    const key = member.agent ?? `${own.id} ${name}`
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

function findReceiver(receivers: readonly Receiver[], to: string, session: string): Receiver {
  const named = withoutDoubles(receivers.filter(({ name, member }) => name === to || member.agent === to))
  const [found, second] = named
  if (found === undefined) {
    const names = receivers.filter(({ own, name }) => name !== own.name).map(({ name }) => name)
    throw refusal(
      'unknown_receiver',
      `No member of your team is called "${to}". ${names.length === 0 ? 'It has no other members.' : `There are ${someOf(names)}; "*" is all of them.`}`,
    )
  }
  if (second !== undefined)
    throw refusal(
      'ambiguous_receiver',
      `Two of your teams have a member "${to}". Write to one of these agents by its id: ${named.map(({ member }) => member.agent ?? 'not started').join(', ')}.`,
    )
  const { member, name } = found
  if (member.agent === session) throw refusal('own_message', `"${to}" is you. Write to another member.`)
  const reason = whyNot(member)
  if (reason === 'agent_ended')
    throw refusal(
      'agent_ended',
      `The agent "${name}" has ended (${member.ended ?? ''}), and reads no more messages. What it said last went to the agent that started it. Start another agent if there is more to do.`,
    )
  if (reason === 'agent_not_run')
    throw refusal(
      'agent_not_run',
      `"${name}" is a program, and not an agent that Handrail runs, so it reads no messages. What you say last goes to it.`,
    )
  return found
}

function whyNot({ agent, ended, reads }: StoredMember): 'agent_ended' | 'agent_not_run' | undefined {
  if (ended !== null) return 'agent_ended'
  return agent !== null && !reads ? 'agent_not_run' : undefined
}

function postMessage(
  draft: Draft,
  { own, name, member }: Receiver,
  { text, sender }: { text: string; sender: Sender },
): SentMessage {
  // What it reads meanwhile makes more room, and never less.
  const read = Number(draft.look(cursorName(own.id, name)) ?? 0)
  if (member.count - read >= mostUnread)
    throw refusal(
      'mailbox_full',
      `"${name}" has ${mostUnread} messages that it has not read. Wait until it has read some.`,
    )
  const number = member.count + 1
  draft.write(messageName(own.id, name, number), toStored({ from: own.name, agent: sender.session, text }))
  draft.write(memberName(own.id, name), toStored({ ...member, count: number }))
  const reads =
    member.agent === null ? 'when_started' : sender.runs(member.agent) ? 'next_turn' : 'when_resumed'
  return { to: name, team: own.team.name, reads }
}
