import type { Team, TeamMember } from '../../contract/base/teams.ts'
import type { Draft } from '../tasks/draft.ts'
import { refusal, someOf } from '../tasks/refusals.ts'
import {
  ledGroup,
  memberGroup,
  memberName,
  membershipGroup,
  membershipName,
  readStored,
  teamName,
  toStored,
  type StoredMember,
  type StoredMembership,
  type StoredTeam,
} from './names.ts'

/** Members of a team at most, its lead among them. */
const mostMembers = 100

/** A team as a session is a member of it. */
export interface OwnTeam {
  readonly id: string
  readonly team: StoredTeam
  /** Name of the session in it. */
  readonly name: string
}

/** The teams that a session is a member of, deleted ones too. */
export function ownTeams(draft: Draft, session: string): OwnTeam[] {
  return [...draft.ids('team', membershipGroup(session))].flatMap((id) => {
    const membership = readStored<StoredMembership>(draft.read(membershipName(session, id)))
    const team = membership && readStored<StoredTeam>(draft.read(teamName(membership.lead, id)))
    return membership === undefined || team === undefined ? [] : [{ id, team, name: membership.name }]
  })
}

/** A team that a session leads, by its id or name. Throws `unknown_team` or `team_deleted`. */
export function getLedTeam(draft: Draft, lead: string, wanted: string): { id: string; team: StoredTeam } {
  const all = ledTeams(draft, lead)
  const found = all.find(({ id }) => id === wanted) ?? all.findLast(({ team }) => team.name === wanted)
  if (found === undefined) {
    const names = all.filter(({ team }) => !team.deleted).map(({ team }) => team.name)
    const known =
      names.length === 0 ? 'It leads none: agent.create_team makes one.' : `It leads ${someOf(names)}.`
    throw refusal('unknown_team', `This session leads no team "${wanted}". ${known}`)
  }
  if (found.team.deleted)
    throw refusal(
      'team_deleted',
      `The team "${found.team.name}" was deleted. agent.create_team makes another one.`,
    )
  return found
}

/** All teams that a session has made, the oldest first. */
export function ledTeams(draft: Draft, lead: string): { id: string; team: StoredTeam }[] {
  return [...draft.ids('team', ledGroup(lead))].flatMap((id) => {
    const team = readStored<StoredTeam>(draft.read(teamName(lead, id)))
    return team === undefined ? [] : [{ id, team }]
  })
}

/** The members of a team by their names. */
export function membersOf(draft: Draft, team: string): Map<string, StoredMember> {
  const names = [...draft.ids('team', memberGroup(team))]
  return new Map(
    names.flatMap((name) => {
      const member = getMember(draft, team, name)
      return member === undefined ? [] : [[name, member]]
    }),
  )
}

export function getMember(draft: Draft, team: string, name: string): StoredMember | undefined {
  return readStored<StoredMember>(draft.read(memberName(team, name)))
}

/** Makes an agent a member. Throws `name_taken` if another one has the name. */
export function putMember(
  draft: Draft,
  team: { lead: string; id: string; title: string },
  member: { name: string; agent: string | null; reads: boolean },
): void {
  const { lead, id } = team
  const { name, agent, reads } = member
  const before = getMember(draft, id, name)
  if (before !== undefined && before.agent !== null && before.agent !== agent)
    throw refusal(
      'name_taken',
      `The team "${team.title}" has a member "${name}" already, the agent ${before.agent}. Take another name.`,
    )
  if (before === undefined && membersOf(draft, id).size >= mostMembers)
    throw refusal('team_full', `The team "${team.title}" has ${mostMembers} members, and takes no more.`)
  draft.write(memberName(id, name), toStored({ count: 0, ...before, agent, ended: null, reads }))
  if (agent !== null) draft.write(membershipName(agent, id), toStored({ lead, name }))
}

/** A team as it is shown. */
export function showTeam(draft: Draft, lead: string, id: string): Team {
  const team = readStored<StoredTeam>(draft.read(teamName(lead, id)))
  if (team === undefined) throw new Error('A team was made that is not there.')
  const members = [...membersOf(draft, id)].map(([name, member]) => showMember(name, member))
  const isLead = ({ agent }: TeamMember): boolean => agent === lead
  return {
    id,
    name: team.name,
    ...(team.task !== undefined && { task: team.task }),
    members: [...members.filter(isLead), ...members.filter((member) => !isLead(member))],
  }
}

function showMember(name: string, { agent, ended }: StoredMember): TeamMember {
  if (agent === null) return { name, state: 'expected' }
  return { name, agent, state: ended === null ? 'present' : 'ended' }
}
