/** Small images of 300 × 200 pixels, as far as their dimensions go; a decoder would find no picture in them. */
export const images = {
  'image/png': bytes('89504e470d0a1a0a 0000000d 49484452 0000012c 000000c8 0802000000 00000000'),
  'image/gif': bytes('474946383961 2c01 c800 000000 3b'),
  'image/jpeg': bytes(
    'ffd8 ffe0 0010 4a46494600 0101 00 0048 0048 0000 ffc0 0011 08 00c8 012c 03 012200 021101 031101 ffd9',
  ),
  'image/webp': bytes('52494646 16000000 57454250 56503858 0a000000 00000000 2b0100 c70000'),
  'image/bmp': bytes('424d 36000000 00000000 36000000 28000000 2c010000 c8000000 0100 1800'),
} as const

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex')
}
