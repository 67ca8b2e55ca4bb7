import { join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { DirectoryEntry, Files } from '../../../contract/services/sandbox.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import { showName } from '../../../kit/text/show-name.ts'
import { toolOutput } from '../../../kit/result/tool-output.ts'
import { defineBuiltin } from '../../define-builtin.ts'
import { checkPath } from '../base/check-path.ts'
import { exclusionsFor, isExcluded } from '../base/exclusions.ts'
import { readsFiles, whereField } from '../base/fields.ts'
import { fileNotFound } from '../base/file-not-found.ts'
import { showPath } from '../base/show-path.ts'

/** `code.list_dir`: what is in a directory; with `recursive`, level by level, so that a limit cuts off the deepest. */
export function listDirTool(): Tool {
  return defineBuiltin({
    name: 'code.list_dir',
    title: 'List directory',
    description:
      'Lists a directory: names, kinds and sizes. Directories end with "/", links with "@" and are not followed. recursive lists below it too, upper levels first, but does not enter sensitive directories. Returns 500 entries unless limit says otherwise.',
    ...readsFiles,
    limits: { maxFiles: 1_000, maxDepth: 32 },
    needs: ['files'],
    input: {
      type: 'object',
      properties: {
        path: whereField,
        recursive: { type: 'boolean', default: false },
        limit: limitField,
      },
      additionalProperties: false,
    },
    output: outputSchema,
    compatible: {
      name: 'LS',
      description:
        'Lists a directory: names, kinds and sizes. Directories end with "/", links with "@" and are not followed. Returns 500 entries unless limit says otherwise.',
      inputSchema: {
        type: 'object',
        properties: { path: whereField, limit: limitField },
        additionalProperties: false,
      },
      toCanonical: (input) => input,
      aliases: [
        {
          name: 'list_files',
          inputSchema: { type: 'object', properties: { path: whereField }, additionalProperties: false },
          toCanonical: (input) => input,
        },
      ],
    },
    decode: (input) => input,
    async plan({ path: asked, recursive }, { files }) {
      const path = await files.resolve(asked, 'read')
      return { operations: [{ kind: 'fs.read', path, recursive }], scope: path, planned: path }
    },
    async run({ recursive, limit }, context) {
      const { files, planned: path } = context
      await checkPath(files, path, 'read')
      if ((await files.stat(path)) === undefined) throw await fileNotFound(files, context.project, path)
      const exclude = exclusionsFor(path, context.sensitiveGlobs)
      const listing = await list(files, path, { recursive, limit, exclude, signal: context.signal })
      const shown = showPath(context.project, path)
      const found = listing.entries.length
      const summary = `${found} ${found === 1 ? 'entry' : 'entries'}${listing.truncated ? ', more follow,' : ''} in ${shown}`
      return toolOutput({
        content: showListing(listing, summary),
        summary,
        data: {
          path: shown,
          entries: listing.entries.map(({ path, kind, size }) => ({ path, kind, size })),
          truncated: listing.truncated,
          not_entered: listing.notEntered,
        },
      })
    },
  })
}

const limitField = { type: 'integer', minimum: 1, maximum: 1_000, default: 500 } as const

interface Listing {
  entries: DirectoryEntry[]
  truncated: boolean
  /** Sensitive directories. */
  notEntered: string[]
}

interface ListOptions {
  recursive: boolean
  limit: number
  exclude: readonly string[]
  signal: AbortSignal
}

async function list(files: Files, root: string, options: ListOptions): Promise<Listing> {
  const listing: Listing = { entries: [], truncated: false, notEntered: [] }
  const directories = ['']
  for (const prefix of directories) {
    const room = options.limit - listing.entries.length
    if (room <= 0) {
      listing.truncated = true
      break
    }
    if (options.signal.aborted) {
      throw new ToolFailure({
        code: 'TOOL.ABORTED',
        reason: 'aborted_by_user',
        message: 'The listing was aborted.',
      })
    }
    const { entries, truncated } = await listOne(files, join(root, prefix), {
      limit: room,
      isRoot: prefix === '',
    })
    listing.truncated ||= truncated
    for (const entry of entries) {
      const path = prefix + entry.path
      listing.entries.push({ ...entry, path })
      if (!options.recursive || entry.kind !== 'directory') continue
      if (isExcluded(join(root, path), options.exclude)) listing.notEntered.push(path)
      else directories.push(`${path}/`)
    }
  }
  listing.entries.sort((a, b) => (a.path < b.path ? -1 : 1))
  return listing
}

/** A directory below that vanished or may not be read is left out and said to be; the one asked for fails. */
async function listOne(
  files: Files,
  path: string,
  { limit, isRoot }: { limit: number; isRoot: boolean },
): Promise<{ entries: DirectoryEntry[]; truncated: boolean }> {
  try {
    return await files.list(path, { recursive: false, limit })
  } catch (error) {
    if (isRoot || !(error instanceof ToolFailure)) throw error
    return { entries: [], truncated: true }
  }
}

function showListing({ entries, truncated, notEntered }: Listing, summary: string): string {
  const lines = entries.map(({ path, kind, size }) => {
    const name = showName(path)
    if (kind === 'directory') return `${name}/`
    return kind === 'file' ? `${name}\t${size}` : `${name}${kind === 'link' ? '@' : '?'}`
  })
  if (entries.length === 0) lines.push(`[${summary}]`)
  if (truncated) lines.push('[Not everything is listed: list a subdirectory, or ask for more at a time.]')
  if (notEntered.length > 0) lines.push(`[Sensitive, not entered: ${notEntered.map(showName).join(', ')}]`)
  return lines.join('\n')
}

const outputSchema = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    entries: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          path: { type: 'string', description: 'Relative to the listed directory.' },
          kind: { type: 'string', enum: ['file', 'directory', 'link', 'other'] },
          size: { type: 'integer', description: 'Bytes.' },
        },
        required: ['path', 'kind', 'size'],
        additionalProperties: false,
      },
    },
    truncated: { type: 'boolean' },
    not_entered: {
      type: 'array',
      items: { type: 'string' },
      description: 'Sensitive directories that were not listed.',
    },
  },
  required: ['path', 'entries', 'truncated', 'not_entered'],
  additionalProperties: false,
} as const
