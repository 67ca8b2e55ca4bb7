import { expect, test } from 'vitest'
import { createPages } from './create-pages.ts'

const slow = {
  html: `${'<div>'.repeat(500)}${'<p>some text, here</p>'.repeat(20_000)}`,
  url: 'https://a.example/',
}

test('a page that takes longer than it may is given up with its thread', async () => {
  const pages = createPages(() => [])
  await expect(pages.convert({ ...slow, to: 'markdown', timeoutMs: 300 })).rejects.toMatchObject({
    reason: 'html_limit',
  })
  expect(process.getActiveResourcesInfo()).not.toContain('MessagePort')
})

test('a signal ends what is converted', async () => {
  const reason = new Error('enough')
  const ending = AbortSignal.abort(reason)
  const pages = createPages(() => [ending])
  await expect(pages.convert({ ...slow, to: 'text', timeoutMs: 60_000 })).rejects.toBe(reason)
})

test('a thread sees nothing of the environment and of the page only its text', async () => {
  const pages = createPages(() => [])
  const html = '<p>a</p><script>document.body.textContent = process.env.HOME</script>'
  expect(await pages.convert({ html, url: 'https://a.example/', to: 'text', timeoutMs: 60_000 })).toEqual({
    title: '',
    text: 'a',
  })
})
