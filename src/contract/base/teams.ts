/** The agent that made a team, among the names of its members. */
export const leadName = 'lead'

/** A message to all other members. */
export const everyone = '*'

/** A team as its lead makes it. */
export interface NewTeam {
  /** Unique among the teams of its lead that are not deleted. */
  readonly name: string
  /** What the team is for, for its members. */
  readonly task?: string | undefined
  /** Names for agents that are yet to start, or ids of agents at work that the session has started. */
  readonly members: readonly string[]
}

/** A member of a team. */
export interface TeamMember {
  readonly name: string
  /** Id of the agent: of its run, or for a lead of a program of its session. Absent until an agent starts under this name. */
  readonly agent?: string
  /** `expected` until an agent starts under this name. */
  readonly state: 'expected' | 'present' | 'ended'
}

/** Agents that send each other messages. */
export interface Team {
  readonly id: string
  readonly name: string
  readonly task?: string
  /** The lead is the first. */
  readonly members: readonly TeamMember[]
}

/** A place in a team that an agent takes when it starts. */
export interface TeamPlace {
  /** Id or name of a team that the session leads. */
  readonly team: string
  /** Default: the id of the agent. */
  readonly name?: string | undefined
}

/** A message to agents of the teams of the session. */
export interface NewMessage {
  /** Name or id of a member; `*` for all others. */
  readonly to: string
  readonly text: string
}

/** A message that a member will read, and when. */
export interface SentMessage {
  readonly to: string
  readonly team: string
  /** At the start of its next turn; when an agent starts under this name; or when its run goes on, as it does not run right now. */
  readonly reads: 'next_turn' | 'when_started' | 'when_resumed'
}

/** What became of a message. */
export interface MessageReport {
  readonly sent: readonly SentMessage[]
  /** Of a message to all: the members that do not get it, and why. */
  readonly missed: readonly { readonly to: string; readonly reason: 'agent_ended' | 'agent_not_run' }[]
}

/**
 * The teams of the session of a call: those that it leads, and those that it was started into. What cannot be done changes nothing and rejects with a
 * `ToolFailure`: `team_exists`, `too_many_teams`, `unknown_team`, `team_deleted`, `no_team`, `name_taken`, `unknown_agent`, `agent_ended`, `agent_not_run`,
 * `unknown_receiver`, `ambiguous_receiver`, `own_message`, `no_receiver`, `mailbox_full`.
 */
export interface Teams {
  create(team: NewTeam): Promise<Team>
  send(message: NewMessage): Promise<MessageReport>
  /** Of a team that the session leads, by its id or name. Messages that were sent before are still read; `unread` is how many these are. */
  delete(team: string): Promise<{ team: Team; unread: number }>
}
