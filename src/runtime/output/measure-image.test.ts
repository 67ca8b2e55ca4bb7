import fc from 'fast-check'
import { expect, test } from 'vitest'
import { images } from '../../../test/support/images.ts'
import { measureImage } from './measure-image.ts'
import { rounds } from '../../../test/support/rounds.ts'

const all = Object.entries(images)

test.each(all)('reads the dimensions of %s', async (mimeType, bytes) => {
  expect(await measureImage(bytes, mimeType)).toEqual({ width: 300, height: 200 })
  expect(await measureImage(bytes, `${mimeType.toUpperCase()}; q=1`)).toEqual({ width: 300, height: 200 })
})

test.each(all)(
  '%s that is cut off has its own dimensions or none, never those of its neighbours',
  async (...[mimeType, bytes]) => {
    const neighbours = Buffer.concat([bytes, Buffer.alloc(64, 7)])
    for (let length = 0; length < bytes.length; length++) {
      const { width, height, note } = await measureImage(neighbours.subarray(0, length), mimeType)
      if (note === undefined) expect([width, height]).toEqual([300, 200])
      else expect([width, height]).toEqual([undefined, undefined])
    }
  },
)

test.each(all)('bytes that are no %s have no dimensions and a note', async (mimeType) => {
  for (const [other, bytes] of all) {
    if (other === mimeType) continue
    expect(await measureImage(bytes, mimeType)).toEqual({ note: `the bytes are no ${mimeType}` })
  }
})

test('an image without pixels is broken', async () => {
  const png = Buffer.from(images['image/png'])
  png.writeUInt32BE(0, 16)
  expect(await measureImage(png, 'image/png')).toEqual({ note: 'the image/png is broken' })
})

test('formats with parsers that can be led astray are not looked at', async () => {
  for (const type of ['image/svg+xml', 'image/heic', 'image/avif', 'image/jxl', 'image/tiff', 'constructor'])
    expect(await measureImage(Buffer.from('<svg width="1" height="1">'), type)).toEqual({})
})

test('no bytes make it fail', async () => {
  const start = fc.constantFrom(...all.map(([, bytes]) => bytes))
  await fc.assert(
    fc.asyncProperty(
      start,
      fc.nat(40),
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom(...all.map(([type]) => type)),
      async (...[bytes, kept, rest, mimeType]) => {
        const made = Buffer.concat([bytes.subarray(0, kept), rest])
        const { width, note } = await measureImage(made, mimeType)
        expect((width === undefined) === (note !== undefined)).toBe(true)
      },
    ),
    { numRuns: rounds({ usual: 500, long: 2_000 }) },
  )
})

// Each byte of the first is a segment that leads nowhere; the second says that its segments are empty; the third is all EXIF.
test.each([
  ['zeros', Buffer.alloc(16 << 20)],
  ['empty segments', Buffer.alloc(16 << 20, Buffer.from('ff00', 'hex'))],
  ['EXIF blocks', Buffer.alloc(16 << 20, Buffer.from('ffe1000a45786966000049492a00', 'hex'))],
])('a JPEG of 16 MiB of %s is not followed to its end', async (_, body) => {
  const jpeg = Buffer.concat([Buffer.from('ffd8ffe00002', 'hex'), body])
  expect(await measureImage(jpeg, 'image/jpeg')).toEqual({ note: 'the image/jpeg is broken' })
})
