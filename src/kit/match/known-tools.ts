import { matchPattern } from './match-pattern.ts'

/** How the specifier of a tool is to be read. */
export type SpecifierKind = 'command' | 'path' | 'host' | 'field' | 'none'

/** A tool under the name that other agents know it by. */
export interface KnownTool {
  /** Canonical names that the bare name stands for. */
  readonly tools: readonly string[]
  readonly kind: SpecifierKind
  /** The input field that a specifier is about. */
  readonly field?: string
  /** Where a specifier may name a field: what it is called here, if not the same. */
  readonly renamed?: Readonly<Record<string, string>>
}

export const runTools = ['code.run_command', 'code.run_shell']
export const editTools = ['code.edit_file', 'code.edit_notebook', 'code.write_file']
/** All that change what a path holds. A rule that forbids edits means none of them; one that allows edits allows no deletion. */
export const changeTools = ['code.copy_path', 'code.delete_path', ...editTools, 'code.move_path'].sort()
export const readTools = ['code.glob', 'code.list_dir', 'code.lsp', 'code.read_file', 'code.search']

function tool(kind: SpecifierKind, ...tools: readonly string[]): KnownTool {
  return { tools, kind }
}

const agent: KnownTool = {
  tools: ['agent.create_sub_agent'],
  kind: 'field',
  field: 'agent_definition_id',
  renamed: { subagent_type: 'agent_definition_id', prompt: 'task', run_in_background: 'background' },
}

const known: ReadonlyMap<string, KnownTool> = new Map([
  ['Agent', agent],
  ['AskUser', tool('none', 'user.ask')],
  ['AskUserQuestion', tool('none', 'user.ask')],
  ['Bash', tool('command', ...runTools)],
  ['BashOutput', tool('none', 'job.output')],
  ['Config', tool('none', 'internal.config')],
  ['CronCreate', tool('none', 'cron.create')],
  ['CronDelete', tool('none', 'cron.delete')],
  ['CronList', tool('none', 'cron.list')],
  ['Edit', { tools: editTools, kind: 'path' }],
  ['EnterPlanMode', tool('none', 'plan.enter')],
  ['EnterWorktree', tool('none', 'code.enter_worktree')],
  ['ExitPlanMode', tool('none', 'plan.exit')],
  ['ExitWorktree', tool('none', 'code.exit_worktree')],
  ['Glob', tool('path', 'code.glob')],
  ['Grep', tool('path', 'code.search')],
  ['KillShell', tool('none', 'job.stop')],
  ['LS', tool('path', 'code.list_dir')],
  ['LSP', tool('none', 'code.lsp')],
  ['ListMcpResources', tool('none', 'mcp.list_resources')],
  ['MultiEdit', tool('path', 'code.edit_file')],
  ['NotebookEdit', tool('path', 'code.edit_notebook')],
  ['Read', { tools: readTools, kind: 'path' }],
  ['ReadMcpResource', tool('none', 'mcp.read_resource')],
  ['RemoteTrigger', tool('none', 'remote.trigger')],
  ['SendMessage', tool('none', 'agent.send_message')],
  ['Skill', { tools: ['internal.load_skill'], kind: 'field', field: 'name' }],
  ['Task', agent],
  ['TaskCreate', tool('none', 'agent.task_create')],
  ['TaskGet', tool('none', 'agent.task_get')],
  ['TaskList', tool('none', 'agent.task_list')],
  ['TaskOutput', tool('none', 'job.output')],
  ['TaskStop', tool('none', 'job.stop')],
  ['TaskUpdate', tool('none', 'agent.task_update')],
  ['TeamCreate', tool('none', 'agent.create_team')],
  ['TeamDelete', tool('none', 'agent.delete_team')],
  ['TodoWrite', tool('none', 'plan.todo_write')],
  ['ToolSearch', tool('none', 'tools.search')],
  ['WebFetch', tool('host', 'web.fetch')],
  ['WebSearch', tool('none', 'web.search')],
  ['Write', tool('path', 'code.write_file')],
])

export function findKnownTool(name: string): KnownTool | undefined {
  return known.get(name)
}

export function knownNames(): Iterable<string> {
  return known.keys()
}

/** Patterns of the canonical names of all tools that a pattern of known names stands for. */
export function expandNames(pattern: string): readonly string[] {
  if (pattern === '*') return ['*']
  const met = [...known].filter(([name]) => matchPattern(pattern, name)).flatMap(([, { tools }]) => tools)
  // What follows the prefix of a server's tools could be any name.
  const [start = ''] = pattern.split('*')
  const imported = start.startsWith('mcp__') || 'mcp__'.startsWith(start) ? ['mcp.*'] : []
  return [...new Set([...met, ...imported])].sort()
}
