import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { ToolFailure } from '../contract/base/errors.ts'
import type { Profile } from '../contract/base/profile.ts'
import type { CommandOutcome, ProgramOwn } from '../contract/services/sandbox.ts'
import type { LongProgram, ProgramListener, ProgramRequest, Programs } from '../contract/mcp/tool-feed.ts'
import { canonicalJson } from '../kit/json/canonical-json.ts'
import { digest } from '../kit/json/digest.ts'
import { isInside } from '../kit/match/is-inside.ts'
import { readPrivateHost } from '../kit/match/read-private-host.ts'
import { intersect, meetHosts } from '../policy/intersect.ts'
import { compileSensitivePaths, defaultSensitivePaths } from '../policy/sensitive-paths.ts'
import { describeHeldBack } from '../kit/text/show-guarded.ts'
import { createProgramPermit } from './program-permit.ts'
import { findProgram } from '../sandboxes/programs/find-program.ts'
import type { TenantContexts, ResolvedTenant } from './tenant-contexts.ts'
import { expandHome } from './options/resolve-places.ts'
import { longestMs } from '../kit/time/longest-ms.ts'
import { messageOf } from '../kit/text/message-of.ts'

/** Kept of what a program prints, beside what is handed on. */
const keptBytes = 4_096

/** Programs of the operator that run until they are ended, in the sandbox of their tenant: they see the folders that are named for them. */
export function createPrograms(tenants: Pick<TenantContexts, 'of' | 'findTenantIssue'>): Programs {
  return {
    open: (request, listener) => openProgram(request, listener, tenants.of(request.tenant)),
    seenBy: (request) =>
      tenants.findTenantIssue(request.tenant) === undefined
        ? foldersSeen(request, tenants.of(request.tenant))
        : [],
    ownFolder: (tenant, path) =>
      tenants.findTenantIssue(tenant) === undefined
        ? (tenants.of(tenant).context.sandbox.ownFolder?.(path) ?? path)
        : path,
  }
}

/** On the host, everything of the machine. */
function foldersSeen(
  request: Parameters<Programs['seenBy']>[0],
  { context, resolved }: ResolvedTenant,
): readonly string[] {
  const { read } = foldersOf(request, resolved)
  return context.sandbox.kind === 'host' ? [...read, '/'] : read
}

async function openProgram(
  request: ProgramRequest,
  listener: ProgramListener,
  { context, resolved }: ResolvedTenant,
): Promise<LongProgram> {
  const { argv, cwd = context.project, env } = request
  // Its home is made when it starts.
  if (cwd !== request.own?.home && !existsSync(cwd))
    throw new ToolFailure({
      reason: 'file_not_found',
      message: `There is no folder "${cwd}" to start it in. Correct "cwd".`,
    })
  const sensitive = [...defaultSensitivePaths, ...resolved.sensitivePaths]
  const profile = toProfile(request, resolved)
  const { commands } = context.sandbox.enter(profile, {
    access: 'write',
    hidden: () => sensitive,
    permitChanges: createProgramPermit(profile.writeRoots, compileSensitivePaths(sensitive, resolved.home)),
    own: toOwn(request),
  })
  const executable = await commands.which(argv[0] ?? '', cwd)
  if (executable === undefined) throw noProgram(argv[0] ?? '', cwd)
  const input = new PassThrough()
  const ending = new AbortController()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const running = commands.run({
    executable,
    argv,
    cwd,
    env,
    live: true,
    timeoutMs: longestMs,
    maxBytes: keptBytes,
    signal: ending.signal,
    stdin: input,
    onStart: begin,
    onRefused: (host) => listener.onRefused?.(host),
    onHeldBack: (held) => listener.onStderr(`handrail: ${describeHeldBack(held)}\n`),
    onOutput: ({ stream, text }) => (stream === 'stdout' ? listener.onStdout(text) : listener.onStderr(text)),
  })
  await Promise.race([begun, running])
  const ended = running.then(toEnd, toEndOfFault)
  return {
    ended,
    write: (text) => write(input, text),
    async end() {
      input.end()
      ending.abort()
      await ended
    },
  }
}

type End = Awaited<LongProgram['ended']>

function toEnd({ exitCode, signal }: CommandOutcome): End {
  return { exitCode, signal, fault: undefined }
}

function toEndOfFault(error: unknown): End {
  return { exitCode: null, signal: null, fault: messageOf(error) }
}

function toOwn({ hosts, own = nothing }: ProgramRequest): ProgramOwn {
  return { ...own, hosts: [...own.hosts, ...hosts.filter(isAddressWithPort)] }
}

const nothing: ProgramOwn = { write: [], read: [], hosts: [] }

/** Nothing else can be meant by it than what stands there. */
function isAddressWithPort(pattern: string): boolean {
  const own = readPrivateHost(pattern)
  return own?.port !== undefined && (own.kind === 'range' || own.pattern === 'localhost')
}

/** What the operator names for the program, and the bounds that hold for everything. */
function toProfile(request: ProgramRequest, resolved: ResolvedTenant['resolved']): Profile {
  const { bounds } = resolved
  const { read, write } = foldersOf(request, resolved)
  const content = {
    readRoots: read,
    writeRoots: write,
    hosts: intersect(request.hosts, bounds.capabilities.net.hosts, meetHosts),
    executables: ['*'],
    browser: false,
    tmp: false,
    secrets: [],
    timeoutMs: longestMs,
    maxBytesIn: bounds.limits.maxBytesIn,
    maxBytesOut: bounds.limits.maxBytesOut,
  }
  return { ...content, digest: digest(canonicalJson(content)) }
}

function foldersOf(
  { cwd, read, write }: Pick<ProgramRequest, 'cwd' | 'read' | 'write'>,
  { project, home }: ResolvedTenant['resolved'],
): { read: string[]; write: string[] } {
  const placesOf = (folders: readonly string[]) =>
    folders
      .map((folder) => (folder === 'project' ? project : expandHome(folder, home)))
      .filter((folder) => !isLedAway(folder, project))
  const writable = placesOf(write)
  return { read: [...placesOf([cwd ?? project, ...read]), ...writable], write: writable }
}

/** Whether it lies in the project by its path, but outside by its links: a process that works in the project may have made them. */
function isLedAway(folder: string, project: string): boolean {
  if (!isInside(folder, project)) return false
  try {
    return !isInside(realpathSync.native(folder), realpathSync.native(project))
  } catch {
    // Not there: then there is nothing to show.
    return false
  }
}

function write(input: PassThrough, text: string): Promise<void> {
  if (input.destroyed || input.writableEnded)
    return Promise.reject(new Error('The program takes no more input.'))
  return new Promise((resolve, reject) => {
    input.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

function noProgram(name: string, cwd: string): ToolFailure {
  return new ToolFailure({
    reason: 'command_not_found',
    message: describeAbsence(name, cwd),
    data: { command: name },
  })
}

function describeAbsence(name: string, cwd: string): string {
  const [program = name, argument] = name.split(' ')
  if (argument !== undefined && !name.includes('/'))
    return `There is no program "${name}" in PATH. Give "${program}" alone as "command", and each of its arguments as one of "args".`
  if (!name.includes('/'))
    return `There is no program "${name}" in PATH. Install it, or give its whole path as "command".`
  const path = resolve(cwd, name)
  const found = findProgram(path, { cwd, path: '' })
  if (found === undefined) return `There is no program "${path}". Correct "command".`
  if (!found.executable)
    return `"${path}" may not be started as a program. Start what runs it, such as node, and give its path as the first of "args".`
  return `The program "${path}" cannot be started in the sandbox. Name its folder in "read".`
}
