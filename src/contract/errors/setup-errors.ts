/** What can be wrong before any call is made, and what to do. `docs/errors.md` is generated from this table too. */
export const setupErrorTable = {
  duplicate_tool: 'Two tools have one canonical name. Rename one, or choose another duplicate policy.',
  invalid_name: 'A canonical name does not follow the grammar of dotted names.',
  invalid_definition: 'A manifest has issues; each is listed with its JSON pointer.',
  unsupported_schema: 'A schema uses what native tools may not, or cannot be turned into JSON Schema.',
  inconsistent_manifest: 'A manifest contradicts itself, such as a readonly tool that writes.',
  invalid_configuration:
    'A configuration file cannot be used; every issue is listed with its file and pointer.',
  invalid_options: 'Options of createRuntime or of a session cannot be used; every issue is listed.',
  project_missing: 'The project folder does not exist or is not a folder.',
  store_unusable: 'The store cannot be opened: no permission, no database, a full disk.',
  breaking_change:
    'An update breaks the input or output schema of a tool without a new MAJOR version; each break is listed.',
  unknown_tool: 'The tool does not exist.',
  registry_unreachable:
    'The registry of MCP servers that config.json names could not be asked, or none is named.',
  unfit_tool:
    'The provider of a model does not take a tool as it is defined; each is listed with what to change.',
  unknown_skill: 'No skill has this name.',
  invalid_caplet: 'A package is damaged, altered, or holds what no package may; the message says what.',
  untrusted_caplet: 'No publisher that the configuration names signed the package.',
  caplet_conflict: 'What is installed under the name is not replaced; the message says why.',
  unknown_caplet: 'No caplet of this name is installed.',
  unknown_definition: 'No definition of an agent has this id.',
  unknown_tenant: 'The policy names its tenants, and this is none of them.',
  invalid_transition: 'A tool cannot go from its state to the wanted one.',
  store_newer: 'A newer Handrail wrote the store. Use that version; nothing was changed.',
  peer_missing: 'A package that was asked for and that is installed apart is not there. Install it.',
  missing_key: 'The key of a model provider is not in the environment variable that the message names.',
  port_in_use: 'Another program listens on the port. Choose another port, or end that program.',
  unknown_server: 'No MCP server has this name.',
  fetch_failed: 'The package of the MCP server could not be fetched; the message says why.',
  login_failed: 'The login at the MCP server failed; the message says why.',
  closed: 'The runtime was closed. Make a new one.',
  unknown_approval: 'The pending approval does not exist: it was over long ago, or never was.',
  approval_over: 'The approval was answered already, or has expired; this answer does not count.',
  approval_changed: 'The answer is for another question than the one that waits. Look at it again.',
  unknown_run: 'The agent run does not exist, or is of another tenant.',
  run_pruned: 'The conversation of the agent run was pruned, so it cannot go on or be read.',
  run_in_progress: 'The agent run goes on already, in this process or another one.',
  unknown_schedule: 'The schedule does not exist, or is of another tenant.',
  schedule_running: 'A run of the schedule goes on, in this process or another one.',
  no_memory: 'The runtime has no folder of memory.',
  unknown_memory: 'No candidate of this id waits for a person, or it is of another tenant.',
  secret_in_memory: 'A secret stands in the candidate, so it does not become a fact.',
  not_approver: 'The policy does not let this actor say yes to this call.',
  invalid_usage: 'The command line is wrong; the message says how it would be right.',
  output_failed: 'The output of a command cannot be written. Nothing that was done is undone.',
  node_too_old: 'No Node that is new enough was found.',
} as const satisfies { readonly [code: string]: string }

/** Kinds of start-up errors. */
export type SetupErrorCode = keyof typeof setupErrorTable
