/** Which calls are meant: those that meet every field; all, if there is none. */
export interface StopScope {
  tenant?: string
  /** Who makes them, with the agents that they started. */
  actor?: string
  /** The MCP server whose tools they call, as `mcp.json` names it. */
  server?: string
  /** A name of tools, in which `*` stands for any letters. */
  tools?: string
}

/** What is to be paused. Unknown fields are refused. */
export interface PauseRequest extends StopScope {
  /** Who pauses it. */
  by: string
  /** Told to models, callers and people. */
  why?: string
}

/** Calls that do not run until a person resumes them. */
export interface Pause extends PauseRequest {
  id: string
  /** Milliseconds since the epoch. */
  at: number
}

/** Which running calls are to be aborted. */
export interface AbortScope extends StopScope {
  /** Handrail's id of one call. */
  call?: string
  /** Of this session, and of those that it opened. */
  session?: string
}

/** What is to be aborted. Unknown fields are refused. */
export interface AbortRequest extends AbortScope {
  by: string
  /** Told to the model. */
  reason?: string
}

/** What became of it. */
export interface Aborted {
  /** Calls that were told to end, in any process. */
  calls: readonly string[]
  /** Those of other processes that had not ended when it was no longer waited for. */
  running: readonly string[]
}

/** A call that began and has not ended, in a process on the store that lives. */
export interface RunningCallRow {
  tenant: string
  session: string
  call: string
  tool: string
  actor: string
  /** When it began, in milliseconds since the epoch. */
  at: number
  /** The process that runs it, by its identity in the store. */
  writer: string
  /** Whether that is the one that is asked. */
  here: boolean
}

/** The emergency stop: what may not run for now, and what is to end. It holds in every process on the store. */
export interface Stops {
  /**
   * Lets none of these calls run from the next one on, over restarts too. One that runs goes on, and does not start again what waits. Throws a
   * `SetupError` for a request that means nothing.
   */
  pause(request: PauseRequest): Promise<Pause>
  /** Lets them run again. Undefined if none has this id. */
  resume(id: string, by: string): Promise<Pause | undefined>
  /** What is paused; of one tenant with what is paused for all. */
  pauses(tenant?: string): readonly Pause[]
  /** The calls that run now, the newest first; of one tenant, if it is named. */
  running(tenant?: string): readonly RunningCallRow[]
  /**
   * Aborts the running calls that are meant, and without a tool, server or call also agents and jobs, in every process on the store. Resolves when those
   * of other processes have ended, at the latest after ten seconds.
   */
  abort(request: AbortRequest): Promise<Aborted>
}
