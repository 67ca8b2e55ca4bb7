import { createMetrics } from 'handrail/telemetry'
import { expect, test } from 'vitest'
import { expectNoStack, makePlace, onBundle, packageRoot, startProgram } from '../support/command-line.ts'
import { findBlocks, readPage } from '../support/markdown.ts'
import { parseExposition, samplesOf } from '../support/prometheus.ts'

const page = readPage('docs/telemetry.md')

test('the page names every metric with its type and labels, and no other', () => {
  const rows = [...page.matchAll(/^\| `(tool_\w+)` \| (\w+) \| .* \| .* \| ?(.*?) ?\|$/gm)]
  const named = rows.map(([, name, type]) => [name, type])
  const families = parseExposition(createMetrics().text())
  expect(named).toEqual([...families].map(([name, { type }]) => [name, type]))
})

test('its program runs, and prints what Prometheus reads', async () => {
  const code = findBlocks(page).find(({ language }) => language === 'js')?.code ?? ''
  const argv = [onBundle, '--input-type=module', '--eval', code]
  const { ended } = startProgram(makePlace(), argv, { cwd: packageRoot })
  const { code: exit, stdout, stderr } = await ended
  expectNoStack({ stdout, stderr })
  expect([exit, stderr]).toEqual([0, ''])
  const [contentType, ...lines] = stdout.trimEnd().split('\n')
  expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  const families = parseExposition(`${lines.join('\n')}\n`)
  expect(samplesOf(families, 'tool_invocations_total')).toEqual({
    '{tool="demo.greet",tenant="local",origin="api"}': 1,
  })
  const documented = new Map(
    [...page.matchAll(/^\| `(tool_\w+)` .*\| ?(.*?) ?\|$/gm)].map(([, name = '', labels = '']) => [
      name,
      [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
    ]),
  )
  for (const [name, { samples, type }] of families) {
    for (const sample of samples.keys()) {
      const labels = [...sample.matchAll(/(\w+)="/g)].map(([, label]) => label)
      const own = type === 'histogram' ? labels.filter((label) => label !== 'le') : labels
      expect([name, own]).toEqual([name, documented.get(name)])
    }
  }
})
