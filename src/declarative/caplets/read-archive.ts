import { createReadStream } from 'node:fs'
import { capletFault } from './caplet-fault.ts'

/** A regular file of an archive. */
export interface ArchiveEntry {
  readonly name: string
  readonly size: number
  readonly executable: boolean
  /** All of its bytes. Fails if the archive ends before, or is damaged. */
  read(): Promise<Buffer>
}

/** How many bytes of an archive may be unpacked; raised once more is known of it. */
export interface ArchiveBound {
  bytes: number
}

/**
 * The files of a `.tgz`, one after the other, each unpacked when it is asked for. Anything that is not a regular file ends it with an error,
 * and so does more than the bound.
 */
export async function* readArchive(path: string, bound: ArchiveBound): AsyncGenerator<ArchiveEntry, void> {
  const { createTarDecoder } = await import('modern-tar')
  const compressed = createReadStream(path)
  const plain = process.getBuiltinModule('node:zlib').createGunzip()
  compressed.on('error', (error) => plain.destroy(error))
  compressed.pipe(plain)
  const entries = ReadableStream.from(bounded(plain, bound, path)).pipeThrough(
    createTarDecoder({ strict: true }),
  )
  try {
    for await (const { header, body } of entries) {
      const { name, size, type = 'file', mode = 0 } = header
      if (type !== 'file')
        throw capletFault(path, `"${name}" is a ${type}, and a package has plain files alone.`)
      yield { name, size, executable: (mode & 0o100) !== 0, read: () => readBody(body, path) }
    }
  } catch (error) {
    throw explain(error, path)
  } finally {
    compressed.destroy()
    plain.destroy()
  }
}

async function* bounded(
  plain: AsyncIterable<Buffer>,
  bound: ArchiveBound,
  path: string,
): AsyncGenerator<Uint8Array, void> {
  let bytes = 0
  for await (const chunk of plain) {
    bytes += chunk.length
    if (bytes > bound.bytes) throw capletFault(path, 'It unpacks to more than its manifest says.')
    yield chunk
  }
}

async function readBody(body: ReadableStream<Uint8Array>, path: string): Promise<Buffer> {
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of body) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch (error) {
    throw explain(error, path)
  }
}

function explain(error: unknown, path: string): unknown {
  if (error instanceof Error && 'code' in error && error.code === 'invalid_caplet') return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return capletFault(path, 'There is no such file.')
  return capletFault(path, `It is not a whole .tgz file${code === '' ? '' : ` (${code})`}. Get it again.`)
}
