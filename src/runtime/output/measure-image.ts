import type { MediaSummary } from '../../contract/base/result.ts'

/** The part of a parser of `image-size` that is used. */
interface ImageParser {
  validate(bytes: Uint8Array): boolean
  calculate(bytes: Uint8Array): { width?: number; height?: number }
}

/**
 * Formats whose dimensions stand at a fixed place or behind a list of segments that only goes forward. Others (SVG, HEIF, JPEG XL,
 * ICNS, TIFF) take parsers that hostile files have led astray.
 */
const parsers: { readonly [mimeType: string]: () => Promise<ImageParser> } = {
  'image/png': async () => (await import('image-size/types/png')).PNG,
  'image/gif': async () => (await import('image-size/types/gif')).GIF,
  'image/jpeg': async () => (await import('image-size/types/jpg')).JPG,
  'image/webp': async () => (await import('image-size/types/webp')).WEBP,
  'image/bmp': async () => (await import('image-size/types/bmp')).BMP,
}

/** Dimensions stand near the start; in a JPEG, behind its metadata. */
const maxHeaderBytes = 512 * 1024

/**
 * Width and height in pixels, as they stand in the file. A note instead if the bytes are not such an image; nothing for formats
 * that are not looked at. Never fails.
 */
export async function measureImage(
  bytes: Uint8Array,
  mimeType: string,
): Promise<Pick<MediaSummary, 'width' | 'height' | 'note'>> {
  const type = mimeType.toLowerCase().split(';', 1)[0]?.trim() ?? ''
  const load = Object.hasOwn(parsers, type) ? parsers[type] : undefined
  if (load === undefined) return {}
  const parser = await load()
  // A copy with a buffer of its own: the parsers would read on into what lies behind a truncated image.
  const header = new Uint8Array(bytes.subarray(0, maxHeaderBytes))
  try {
    if (!parser.validate(header)) return { note: `the bytes are no ${type}` }
    const { width, height } = parser.calculate(header)
    if (isLength(width) && isLength(height)) return { width, height }
  } catch {
    // Broken or cut off: what the parsers throw says no more than that.
  }
  return { note: `the ${type} is broken` }
}

function isLength(pixels: number | undefined): pixels is number {
  return pixels !== undefined && Number.isSafeInteger(pixels) && pixels > 0
}
