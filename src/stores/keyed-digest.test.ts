import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { createKeyedDigest, newSecret } from './keyed-digest.ts'

test('is the HMAC-SHA-256 of the text under the hexadecimal digits of the secret', () => {
  for (let round = 0; round < 50; round++) {
    const secret = newSecret()
    const digest = createKeyedDigest(secret)
    for (const text of ['', '{}', 'ä€😀'.repeat(round), 'x'.repeat(round * 7)]) {
      const hmac = createHmac('sha256', Buffer.from(secret).toString('hex')).update(text)
      expect(digest(text)).toBe(hmac.digest('base64url'))
    }
  }
})
