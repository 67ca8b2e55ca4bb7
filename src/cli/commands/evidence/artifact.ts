import { once } from 'node:events'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { ArtifactStore } from '../../../contract/store.ts'
import { findArtifacts, type ListedArtifact } from '../../../evidence/find-artifacts.ts'
import { describeFileError } from '../../../kit/text/describe-file-error.ts'
import { createDiskArtifacts } from '../../../stores/artifacts/create-disk-artifacts.ts'
import { jsonOption, readText } from '../../arguments/caller.ts'
import { aboutArtifacts, findArtifact } from '../../arguments/find-artifact.ts'
import { readLimit } from '../../arguments/read-limit.ts'
import type { CommandGroup, CommandLine, Options } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine, showSafely, writeJson } from '../../base/show-safely.ts'
import { UsageError } from '../../base/usage-error.ts'
import { countOf } from '../../render/count-of.ts'
import { findPlaces } from '../../setup/wire.ts'
import { findMeant, findTenants, withEvidence } from './open-evidence.ts'

const tenant: Options = { tenant: { takes: 'TENANT', about: 'Whose calls. Default: all.' } }

/** `handrail artifact` */
export const artifact: CommandGroup = {
  summary: 'Lists the large and binary outputs that calls left, and gets one.',
  otherwise: 'list',
  ofNames: 'get',
  verbs: {
    list: {
      usage: '',
      summary: 'The artifacts that calls left last, newest first.',
      options: {
        limit: { takes: 'N', about: 'How many. Default: 20.' },
        call: { takes: 'ID', about: 'Of this call alone; "last" is the last one.' },
        ...tenant,
        ...jsonOption,
      },
      examples: ['handrail artifact list --call last'],
      takes: 0,
      run: list,
    },
    get: {
      usage: '<artifact>',
      summary: 'Writes an artifact to standard output or to a file, held against its digest.',
      more: aboutArtifacts,
      options: {
        output: { takes: 'FILE', short: 'o', about: 'A new file. Default: standard output.' },
        ...tenant,
      },
      examples: ['handrail artifact get last', 'handrail artifact get 9f86d08 --output page.pdf'],
      needs: 'Name the artifact. "handrail artifact list" shows the latest.',
      takes: 1,
      run: get,
    },
  },
}

function list(given: CommandLine): Promise<number> {
  const limit = readLimit(given)
  return withEvidence(findPlaces(given), async ({ store }) => {
    const named = { text: readText(given, 'call'), tenant: readText(given, 'tenant') }
    const meant = findMeant(store, { what: 'call', ...named })
    if (meant === undefined) return exitCodes.toolError
    const { tenants, id: call } = meant
    const found = findArtifacts(store, { tenants, limit, ...(call !== undefined && { call }) })
    if (given.options['json'] === true) writeJson(found)
    else
      process.stdout.write(
        [...found.map(toRow), countOf(found.length, 'artifact')].map((line) => `${line}\n`).join(''),
      )
    return exitCodes.ok
  })
}

function toRow({ digest, at, call, tool, bytes, mimeType, name, truncated }: ListedArtifact): string {
  const size = bytes === undefined ? [] : [countOf(bytes, 'byte')]
  const about = [...size, mimeType, name, truncated && 'only its start is kept'].filter(Boolean).join(', ')
  return showLine(
    `${new Date(at).toISOString()}  ${digest.replace('sha256:', '').slice(0, 12)}  ${call}  ${tool}${about === '' ? '' : `  ${about}`}`,
  )
}

function get(given: CommandLine): Promise<number> {
  const places = findPlaces(given)
  const [text = ''] = given.positionals
  const output = readText(given, 'output')
  return withEvidence(places, async ({ store }) => {
    const tenants = findTenants(store, readText(given, 'tenant'))
    if (tenants === undefined) return exitCodes.toolError
    const found = findArtifact(store, { text, tenants })
    if ('issue' in found) return refuse(found.issue)
    const artifacts = createDiskArtifacts({ dir: join(places.home, 'artifacts') })
    const { digest } = found
    const total = (await artifacts.read(digest, { offset: 0, length: 1 }))?.total
    if (total === undefined)
      return refuse(`the artifact ${digest} is not kept any more: "evidence prune" removes old ones.`)
    const parts = readParts(artifacts, { digest, total })
    await (output === undefined ? print(parts) : writeFile(output, parts))
    return exitCodes.ok
  })
}

function refuse(why: string): number {
  process.stderr.write(`handrail: ${showLine(why)}\n`)
  return exitCodes.toolError
}

const partBytes = 4 * 1024 * 1024

async function* readParts(
  artifacts: ArtifactStore,
  { digest, total }: { digest: string; total: number },
): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < total; offset += partBytes) {
    const read = await artifacts.read(digest, { offset, length: partBytes })
    if (read === undefined) throw new Error(`The artifact ${digest} was removed while it was read`)
    yield read.bytes
  }
}

/** A pipe or a file gets every byte; a terminal gets text only, without what could drive it. */
async function print(parts: AsyncIterable<Uint8Array>): Promise<void> {
  let isGone = false
  process.stdout.once('error', () => (isGone = true))
  const { isTTY } = process.stdout
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  for await (const bytes of parts) {
    if (!process.stdout.write(isTTY ? toShown(decoder, bytes) : bytes))
      // A reader that went away has read enough.
      await once(process.stdout, 'drain').catch(() => (isGone = true))
    if (isGone) return
  }
}

function toShown(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string {
  const refusal = new UsageError('It is not text, and this is a terminal: add --output FILE.')
  if (bytes.includes(0)) throw refusal
  try {
    return showSafely(decoder.decode(bytes, { stream: true }))
  } catch {
    throw refusal
  }
}

/** Outputs are no other user's business. What could not be written whole is removed. */
async function writeFile(path: string, parts: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await openNew(path)
  let bytes = 0
  try {
    for await (const part of parts) {
      await file.writeFile(part)
      bytes += part.length
    }
    await file.close()
  } catch (error) {
    await file.close()
    await rm(path, { force: true })
    throw error instanceof ToolFailure ? error : unwritable(path, error)
  }
  process.stderr.write(`handrail: "${showLine(path)}" has it (${countOf(bytes, 'byte')})\n`)
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600)
  } catch (error) {
    throw unwritable(path, error)
  }
}

function unwritable(path: string, error: unknown): UsageError {
  return new UsageError(
    `The file "${showLine(path)}" cannot be written: ${describeFileError(error)}. Name a new one.`,
  )
}
