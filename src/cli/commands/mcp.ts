import { jsonOption, tenantOption } from '../arguments/caller.ts'
import type { Command, CommandGroup } from '../base/command.ts'
import type { ToolsVerb } from './tools/verb.ts'

const timeout = { takes: 'TIME', about: 'How long servers may take to answer. Default: 20s.' }
const needsServer = 'Name the server of mcp.json. "handrail mcp status" shows them.'

/** `handrail mcp` */
export const mcp: CommandGroup = {
  summary:
    'MCP servers: adds and removes them, says where they stand and which of their definitions changed, logs in.',
  otherwise: 'status',
  verbs: {
    status: {
      usage: '',
      summary: 'Connects to every server of mcp.json, and says where each stands and what would help.',
      options: { timeout, ...jsonOption },
      examples: ['handrail mcp status --timeout 5s'],
      takes: 0,
      run: lazily(async () => (await import('./mcp/status.ts')).statusVerb),
    },
    add: {
      usage: '<name> -- <command> [<argument> …] | <name> <url>',
      summary: 'Puts a server into mcp.json. Shows the change and asks first.',
      more: 'Comments and all else in the file stay. A running "handrail serve" follows it. An entry with a fault is refused, and so is a secret that stands there as it is.',
      options: {
        env: {
          takes: 'NAME,…',
          about:
            'Variables that the program gets. NAME alone is that of your environment, whose value stays out of the file; NAME=VALUE is another one.',
        },
        header: {
          takes: 'TEXT',
          about: "A header that a server with a URL gets: 'Authorization: Bearer ${TOKEN}'.",
        },
        read: { takes: 'DIR,…', about: 'Folders that the program may read.' },
        write: { takes: 'DIR,…', about: 'Folders that the program may write.' },
        network: { takes: 'HOST,…', about: 'Hosts that its tools may reach.' },
        paste: {
          takes: 'FILE',
          about:
            'The entry, in the JSON or TOML of any client or as a command, from a file, or "-" for standard input. A secret in it is written as ${NAME}.',
        },
        try: {
          about: 'Starts it first, as it would be in service, and shows the entry with what its words need.',
        },
        'keep-secrets': { about: 'Writes a secret as it stands.' },
        yes: { about: 'Does not ask.' },
      },
      examples: [
        'handrail mcp add docs --read /srv/docs -- npx -y @modelcontextprotocol/server-filesystem /srv/docs',
        'handrail mcp add github --env GITHUB_TOKEN --yes -- github-mcp-server stdio',
        'handrail mcp add tracker https://tracker.example/mcp',
      ],
      needs: 'Name the server, and say what to start or where it is.',
      takes: Infinity,
      run: lazily(async () => (await import('./mcp/change-servers.ts')).addVerb),
    },
    remove: {
      usage: '<server>',
      summary: 'Takes a server out of mcp.json, and nothing else. Shows the change and asks first.',
      options: { yes: { about: 'Does not ask.' } },
      examples: ['handrail mcp remove docs'],
      needs: needsServer,
      takes: 1,
      run: lazily(async () => (await import('./mcp/change-servers.ts')).removeVerb),
    },
    import: {
      usage: '<claude-desktop|claude-code|cursor|vscode|gemini-cli|codex>',
      summary: 'Takes over the servers of another program into mcp.json. Shows the change and asks first.',
      more: 'Servers that are there already stay as they are. What has a fault, or needs what only that program fills in, is left out and said. A variable that holds a secret is written as ${NAME}.',
      options: {
        file: {
          takes: 'FILE',
          about: 'Its file, such as the .mcp.json of a project. Default: that of the person.',
        },
        try: {
          about:
            'Starts each first, as it would be in service, and shows the entries with what their words need.',
        },
        'keep-secrets': { about: 'Writes secrets as they stand there, and says so.' },
        yes: { about: 'Does not ask.' },
      },
      examples: [
        'handrail mcp import claude-desktop',
        'handrail mcp import claude-code --file .mcp.json --yes',
      ],
      needs: 'Name the program: claude-desktop, claude-code, cursor, vscode, gemini-cli or codex.',
      takes: 1,
      run: lazily(async () => (await import('./mcp/import-servers.ts')).importServers),
    },
    review: {
      usage: '[<tool> --approve]',
      summary: 'Shows which definitions changed, field by field; with --approve, lets one be used.',
      options: {
        approve: { about: 'Lets the tool be used as it is now.' },
        digest: { takes: 'DIGEST', about: 'Only if it is this very definition.' },
        tenant: { takes: 'TENANT', about: 'Whose. Default: those of all.' },
        timeout,
        ...jsonOption,
      },
      examples: ['handrail mcp review', 'handrail mcp review mcp.github.get_issue --approve'],
      takes: 1,
      run: lazily(async () => (await import('./mcp/review.ts')).reviewVerb),
    },
    update: {
      usage: '[<server>]',
      summary: 'Fetches the packages of servers anew, and pins what is newest.',
      options: { ...jsonOption },
      examples: ['handrail mcp update', 'handrail mcp update github'],
      takes: 1,
      run: lazily(async () => (await import('./mcp/update.ts')).updateVerb),
    },
    login: {
      usage: '<server>',
      summary: 'Logs you in at a server, in your browser.',
      options: {
        ...tenantOption,
        within: { takes: 'TIME', about: 'How long you have. Default: 5m.' },
        ...jsonOption,
      },
      examples: ['handrail mcp login tracker'],
      needs: needsServer,
      takes: 1,
      run: lazily(async () => (await import('./mcp/login.ts')).loginVerb),
    },
    logout: {
      usage: '<server>',
      summary: 'Forgets the login at a server.',
      options: { ...tenantOption, ...jsonOption },
      examples: ['handrail mcp logout tracker'],
      needs: needsServer,
      takes: 1,
      run: lazily(async () => (await import('./mcp/login.ts')).logoutVerb),
    },
  },
}

/** Each verb is loaded only when it is asked for. */
function lazily(load: () => Promise<ToolsVerb>): Command['run'] {
  return async (given) => (await load()).run(given, given.positionals[0])
}
