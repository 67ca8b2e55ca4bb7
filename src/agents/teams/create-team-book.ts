import type { NewTeam, Team, TeamPlace, Teams } from '../../contract/base/teams.ts'
import { leadName } from '../../contract/base/teams.ts'
import type { Json } from '../../contract/base/json.ts'
import type { Store } from '../../contract/store.ts'
import { newId } from '../../kit/new-id.ts'
import { createWriter, type WriterCaller } from '../tasks/create-writer.ts'
import type { Draft } from '../tasks/draft.ts'
import { refusal } from '../tasks/refusals.ts'
import { createMailboxes, type Mailboxes } from './create-mailboxes.ts'
import { cursorName, doneName, memberName, membershipName, readStored, teamName, toStored } from './names.ts'
import { sendMessage } from './send-message.ts'
import { getLedTeam, getMember, ledTeams, membersOf, putMember, showTeam } from './work.ts'

/** Teams of one session at most, deleted ones among them. */
const mostTeams = 100

/** The session that works with its teams. */
export interface TeamCaller extends WriterCaller {
  readonly session: string
  /** Names the call, if it may be made again after its process was killed. */
  readonly once: string | undefined
  /** Whether Handrail runs an agent in the session, so that messages reach it. */
  readonly isRun: boolean
  /** Takes secrets out of what is kept. */
  readonly redact: (text: string) => string
  /** How an agent that this session started stands; undefined if it started none of this id. */
  readonly childState: (agent: string) => 'running' | 'ended' | undefined
  /** Whether the run of an agent goes on right now. */
  readonly runs: (agent: string) => boolean
}

/** What an agent is told of the team that it joins. */
export interface JoinedTeam {
  readonly name: string
  readonly team: Team
}

/** The teams in a store. */
export interface TeamBook extends Mailboxes {
  open(caller: TeamCaller): Teams
  /** Makes an agent a member of a team that the session leads. The same agent may join again. */
  join(caller: TeamCaller, place: TeamPlace, agent: string): Promise<JoinedTeam>
  /** Takes back that it joined, as it did not start. */
  leave(caller: TeamCaller, joined: JoinedTeam): Promise<void>
}

/** The teams in a store. `now` is in milliseconds since the epoch. */
export function createTeamBook({ store, now }: { store: Store; now: () => number }): TeamBook {
  const writer = createWriter(store)
  return {
    ...createMailboxes(store),
    open(caller) {
      /** A call that is made again gets what it got, and does nothing. */
      const change = <Report>(work: (draft: Draft) => Report): Promise<Report> =>
        writer.change(caller, (draft) => {
          if (caller.once === undefined) return work(draft)
          const name = doneName(caller.session, caller.once)
          const done = readStored<Report>(draft.read(name))
          if (done !== undefined) return done
          const report = work(draft)
          draft.write(name, JSON.parse(JSON.stringify(report)) as Json)
          return report
        })
      return {
        create: (team) =>
          change((draft) => createTeam(draft, clean(team, caller), { caller, id: newId('team', now()) })),
        send: (message) =>
          change((draft) => sendMessage(draft, { ...message, text: caller.redact(message.text) }, caller)),
        delete: (team) => change((draft) => deleteTeam(draft, team, caller)),
      }
    },
    join: (caller, place, agent) =>
      writer.change(caller, (draft) => joinTeam(draft, place, { caller, agent })),
    leave: (caller, { team, name }) =>
      writer.change(caller, (draft) => {
        const member = getMember(draft, team.id, name)
        if (member === undefined || member.agent === null) return
        draft.write(membershipName(member.agent, team.id), undefined)
        const isNamed = name !== member.agent
        const free = isNamed ? toStored({ ...member, agent: null, reads: false }) : undefined
        draft.write(memberName(team.id, name), free)
      }),
  }
}

function clean({ name, task, members }: NewTeam, { redact }: TeamCaller): NewTeam {
  return { name: redact(name), members, ...(task !== undefined && { task: redact(task) }) }
}

function createTeam(
  draft: Draft,
  { name, task, members }: NewTeam,
  { caller, id }: { caller: TeamCaller; id: string },
): Team {
  const { session, isRun } = caller
  const teams = ledTeams(draft, session)
  if (teams.some(({ team }) => team.name === name && !team.deleted))
    throw refusal(
      'team_exists',
      `This session leads a team "${name}" already. Use that one, delete it, or take another name.`,
    )
  if (teams.length >= mostTeams)
    throw refusal('too_many_teams', `This session has made ${mostTeams} teams, which is all that it may.`)
  draft.write(teamName(session, id), toStored({ name, deleted: false, ...(task !== undefined && { task }) }))
  const about = { lead: session, id, title: name }
  putMember(draft, about, { name: leadName, agent: session, reads: isRun })
  for (const member of new Set(members)) putMember(draft, about, toMember(member, caller))
  return showTeam(draft, session, id)
}

/** A name for an agent that is yet to start, or an agent that the session has started. */
function toMember(
  given: string,
  { childState }: TeamCaller,
): { name: string; agent: string | null; reads: boolean } {
  if (given === leadName)
    throw refusal('name_taken', `"${leadName}" is you, and a member anyway. Name the others alone.`)
  if (!given.startsWith('run_')) return { name: given, agent: null, reads: false }
  const state = childState(given)
  if (state === undefined)
    throw refusal('unknown_agent', `This session started no agent "${given}", so it cannot be a member.`)
  if (state === 'ended')
    throw refusal(
      'agent_ended',
      `The agent "${given}" has ended, so it cannot be a member. Start another one.`,
    )
  return { name: given, agent: given, reads: true }
}

function joinTeam(
  draft: Draft,
  { team: wanted, name = '' }: TeamPlace,
  { caller, agent }: { caller: TeamCaller; agent: string },
): JoinedTeam {
  const { session } = caller
  const { id, team } = getLedTeam(draft, session, wanted)
  const own = name === '' ? agent : name
  if (own === leadName)
    throw refusal('name_taken', `"${leadName}" is the agent that made the team. Take another name.`)
  putMember(draft, { lead: session, id, title: team.name }, { name: own, agent, reads: true })
  return { name: own, team: showTeam(draft, session, id) }
}

function deleteTeam(draft: Draft, wanted: string, { session }: TeamCaller): { team: Team; unread: number } {
  const { id, team } = getLedTeam(draft, session, wanted)
  const shown = showTeam(draft, session, id)
  let unread = 0
  for (const [name, { count, ended }] of membersOf(draft, id))
    if (ended === null) unread += count - Number(draft.look(cursorName(id, name)) ?? 0)
  draft.write(teamName(session, id), toStored({ ...team, deleted: true }))
  return { team: shown, unread }
}
