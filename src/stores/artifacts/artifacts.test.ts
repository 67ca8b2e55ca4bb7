import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDiskArtifacts } from './create-disk-artifacts.ts'
import { createMemoryArtifacts } from './create-memory-artifacts.ts'

const text = new TextEncoder().encode('a large output')
const about = { mimeType: 'text/plain', name: 'output.txt' }

async function tempDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-artifacts-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

for (const kind of ['disk', 'memory'] as const) {
  const open = async () =>
    kind === 'memory'
      ? createMemoryArtifacts()
      : createDiskArtifacts({ dir: join(await tempDirectory(), 'deep') })

  test(`${kind}: gives back by digest what was put (OUT-2)`, async () => {
    const artifacts = await open()
    const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
    expect(await artifacts.put(text, about)).toEqual({ digest, bytes: 14, ...about })
    expect(Buffer.from((await artifacts.get(digest)) ?? [])).toEqual(Buffer.from(text))
    expect(await artifacts.put(text, { mimeType: 'text/plain' })).toEqual({
      digest,
      bytes: 14,
      mimeType: 'text/plain',
    })
  })

  test(`${kind}: takes a stream piece by piece and keeps nothing of the caller's buffers`, async () => {
    const artifacts = await open()
    const pieces = Array.from({ length: 20 }, () => randomBytes(10_000))
    const whole = Buffer.concat(pieces)
    const writer = artifacts.open({ mimeType: 'application/octet-stream' })
    for (const piece of pieces) {
      writer.write(piece)
      piece.fill(0)
    }
    const artifact = await writer.finish()
    expect(artifact).toMatchObject({ bytes: 200_000 })
    expect(Buffer.from((await artifacts.get(artifact.digest)) ?? []).equals(whole)).toBe(true)
  })

  test(`${kind}: gives a part of an artifact, and what there is of it at its end (OUT-2)`, async () => {
    const artifacts = await open()
    const whole = randomBytes(3_000_000)
    const { digest } = await artifacts.put(whole, about)
    const isPart = async (offset: number, length: number): Promise<boolean> => {
      const read = await artifacts.read(digest, { offset, length })
      expect(read?.total).toBe(3_000_000)
      return Buffer.from(read?.bytes ?? []).equals(whole.subarray(offset, offset + length))
    }
    expect(await isPart(0, 10)).toBe(true)
    expect(await isPart(1_000_000, 1_500_000)).toBe(true)
    expect(await isPart(2_999_990, 100)).toBe(true)
    expect(await isPart(3_000_001, 100)).toBe(true)
    expect(await artifacts.read(`sha256:${'0'.repeat(64)}`, { offset: 0, length: 1 })).toBeUndefined()
    expect(await artifacts.read('sha256:../../etc/passwd', { offset: 0, length: 1 })).toBeUndefined()
  })

  test(`${kind}: keeps an empty artifact`, async () => {
    const artifacts = await open()
    const { digest } = await artifacts.open({ mimeType: 'text/plain' }).finish()
    expect(await artifacts.get(digest)).toHaveLength(0)
  })

  test(`${kind}: has nothing under an unknown digest or something that is none`, async () => {
    const artifacts = await open()
    expect(await artifacts.get(`sha256:${'0'.repeat(64)}`)).toBeUndefined()
    expect(await artifacts.get('sha256:../../etc/passwd')).toBeUndefined()
    expect(await artifacts.get('')).toBeUndefined()
  })
}

test('disk: leaves nothing behind of an abandoned artifact', async () => {
  const dir = await tempDirectory()
  const writer = createDiskArtifacts({ dir }).open(about)
  writer.write(text)
  expect(await readdir(join(dir, 'parts'))).toHaveLength(1)
  await writer.abandon()
  expect(await readdir(join(dir, 'parts'))).toEqual([])
  await expect(writer.finish()).rejects.toMatchObject({ reason: 'store_failed' })
})

test('disk: refuses to give out what was changed on the disk, and heals it when it is put again', async () => {
  const dir = await tempDirectory()
  const artifacts = createDiskArtifacts({ dir })
  const { digest } = await artifacts.put(text, about)
  const hex = digest.slice('sha256:'.length)
  const path = join(dir, hex.slice(0, 2), hex)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  await writeFile(path, 'something else')
  await expect(artifacts.get(digest)).rejects.toMatchObject({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
  })
  await artifacts.put(text, about)
  expect(await artifacts.get(digest)).toHaveLength(14)
})

test('disk: refuses to give out a part of what was changed on the disk, before it was read and after', async () => {
  const dir = await tempDirectory()
  const { digest } = await createDiskArtifacts({ dir }).put(text, about)
  const path = join(dir, digest.slice(7, 9), digest.slice(7))
  const part = { offset: 0, length: 5 }
  const artifacts = createDiskArtifacts({ dir })
  expect(Buffer.from((await artifacts.read(digest, part))?.bytes ?? []).toString()).toBe('a lar')
  await writeFile(path, 'a lArge output')
  const refusal = { code: 'PROVIDER.UNAVAILABLE', reason: 'store_failed' }
  await expect(artifacts.read(digest, part)).rejects.toMatchObject(refusal)
  await expect(createDiskArtifacts({ dir }).read(digest, part)).rejects.toMatchObject(refusal)
})

test('disk: reports a folder that cannot be written when the artifact is finished', async () => {
  const dir = join(await tempDirectory(), 'file')
  await writeFile(dir, 'no folder')
  const artifacts = createDiskArtifacts({ dir })
  await expect(artifacts.put(text, about)).rejects.toMatchObject({ reason: 'store_failed' })
  const writer = artifacts.open(about)
  writer.write(text)
  writer.write(text)
  await expect(writer.finish()).rejects.toMatchObject({ reason: 'store_failed' })
})

test('disk: removes what a process that died long ago left half written', async () => {
  const dir = await tempDirectory()
  await mkdir(join(dir, 'parts'))
  for (const name of ['old', 'young']) await writeFile(join(dir, 'parts', name), text)
  await utimes(join(dir, 'parts', 'old'), new Date(0), new Date(0))
  await createDiskArtifacts({ dir }).put(text, about)
  expect(await readdir(join(dir, 'parts'))).toEqual(['young'])
})

test('memory: drops the oldest artifacts over its cap and refuses one that is larger than the cap', async () => {
  const artifacts = createMemoryArtifacts({ maxBytes: 100 })
  const [first, second, third] = await Promise.all(
    ['a', 'b', 'c'].map((letter) => artifacts.put(Buffer.from(letter.repeat(40)), about)),
  )
  expect(await artifacts.get(first?.digest ?? '')).toBeUndefined()
  expect(await artifacts.get(second?.digest ?? '')).toHaveLength(40)
  expect(await artifacts.get(third?.digest ?? '')).toHaveLength(40)
  await expect(artifacts.put(new Uint8Array(101), about)).rejects.toMatchObject({ reason: 'store_failed' })
  const writer = artifacts.open(about)
  for (let i = 0; i < 11; i++) writer.write(new Uint8Array(10))
  await expect(writer.finish()).rejects.toMatchObject({ reason: 'store_failed' })
})
