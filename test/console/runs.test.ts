import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, toolOutput } from 'handrail'
import { expect, test } from 'vitest'
import { makePlace } from '../support/command-line.ts'
import {
  askApi,
  caller,
  enter,
  keepBrowser,
  openPage,
  serve,
  startConsole,
  type Answer as ApiAnswer,
} from '../support/console.ts'
import { findFaults } from '../support/find-faults.ts'
import type { Answer } from '../support/model-server.ts'
import { openShop } from '../support/shop.ts'
import { listRuns, runModel } from '../support/run-model.ts'

const browser = keepBrowser()

const reading = (...paths: string[]): Answer => ({
  calls: paths.map((path) => ({ tool: 'code.read_file', input: { path } })),
})
const writing = (content: string): Answer => ({
  calls: [{ tool: 'code.write_file', input: { path: 'b.txt', content } }],
})

/** Two runs that read and write the same files, the second another text, and their console. */
async function makeRuns(own: Readonly<Record<string, unknown>> = {}) {
  const place = makePlace({ 'a.txt': 'alpha\n', 'c.txt': 'gamma\n' }, own)
  for (const content of ['one\n', 'two\n']) {
    const answers = [reading('a.txt', 'c.txt'), writing(content), { text: 'Done.' }]
    await runModel(place, answers, { argv: ['write b.txt', '--approve', 'once'] })
  }
  const [second, first] = await listRuns(place)
  return { place, first: first?.id ?? '', second: second?.id ?? '', ...(await serve(place)) }
}

test('a run is shown turn by turn with what it changed and who let it, beside another run, and is replayed without the world', async () => {
  const { link, first, second, place } = await makeRuns()
  const { page, faults } = await openPage(browser(), link)
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('link', { name: first }).click()
  const timeline = page.getByRole('list', { name: 'Timeline' })
  await timeline.getByText(/turn 1, .* 2 calls/).waitFor()
  expect(await timeline.getByRole('img').count()).toBe(2)
  await page.getByRole('list', { name: 'Files' }).getByText('b.txt').waitFor()
  await page
    .getByRole('list', { name: 'Approvals' })
    .getByText(/allow_once by/)
    .waitFor()
  await page.getByRole('button', { name: 'Replay' }).press('Enter')
  await page.getByText('It would go the same way: 3 turns, 3 of 3 calls went as they did then.').waitFor()
  await page.getByLabel('With').selectOption(second)
  const table = page.getByRole('table', { name: 'Compared calls' })
  await table.getByText('input', { exact: false }).last().waitFor()
  const differs = await table.locator('tbody tr td:last-child').allTextContents()
  expect(differs.map((text) => text.split(', ')[0])).toEqual(['', '', 'input'])
  await table.getByText(/"two\\n"/).waitFor()
  expect([await findFaults(page), faults]).toEqual([[], []])
  const rules = [{ tools: ['code.write_file'], effect: 'deny', reason: 'No.' }]
  writeFileSync(join(place.home, 'policy.json'), JSON.stringify({ rules }))
  await page.getByRole('button', { name: 'Replay' }).press('Enter')
  await page.getByText(/It parts in turn \d/).waitFor()
})

test('a tenant neither sees, compares, replays nor is told the cost of the runs of another; who sees all sees each', async () => {
  const { origin, link, place, first, second } = await makeRuns({
    'policy.json': { tenants: { acme: {} } },
    'gateway.json': { tokens: [caller('eve', { approver: true, tenant: 'acme' })] },
  })
  const headers = { authorization: 'Bearer hr_eve', 'content-type': 'application/json' }
  for (const path of [`/runs/${first}`, `/runs/${first}/compare/${second}`])
    expect((await askApi(origin, path, { headers })).status).toBe(404)
  const replayed = await askApi(origin, `/runs/${first}/replay`, { headers, method: 'POST', body: '{}' })
  expect(replayed.status).toBe(404)
  const { api } = await enter(link)
  expect((await api(`/runs/${first}/compare/run_nobody`)).status).toBe(404)
  await runModel(place, [reading('a.txt'), { text: 'Done.' }], { argv: ['read it', '--tenant', 'acme'] })
  const seen = async (ask: (path: string) => Promise<ApiAnswer>) => {
    const { runs } = (await ask('/runs')).body
    const { sessions } = (await ask('/sessions')).body
    const { spend } = (await ask('/overview')).body
    for (const { id } of runs) expect([id, (await ask(`/runs/${id}`)).status]).toEqual([id, 200])
    return [
      runs.map(({ tenant }: { tenant: string }) => tenant),
      sessions.filter(({ run }: { run?: string }) => run !== undefined).length,
      spend.runs,
    ]
  }
  expect(await seen((path) => askApi(origin, path, { headers }))).toEqual([['acme'], 1, 1])
  expect(await seen(api)).toEqual([['acme', 'local', 'local'], 3, 3])
})

test('a call shows how its time was spent, its images, its run and what proves its records', async () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC'
  const draw = defineTool({
    name: 'shop.draw',
    description: 'Draws.',
    permission: 'readonly',
    input: { type: 'object', properties: {} },
    run: () =>
      toolOutput({
        content: [
          { type: 'image', data: png, mimeType: 'image/png' },
          { type: 'image', data: btoa('<svg onload="document.title=1"/>'), mimeType: 'image/svg+xml' },
        ],
      }),
  })
  const { link, place, origin } = await startConsole()
  const { runtime } = await openShop(place.store, { tools: [draw] })
  const { callId } = await runtime.session({ actor: 'ann' }).call('shop.draw', {})
  const { page, faults } = await openPage(browser(), link)
  await page.goto(`${origin}/calls/${callId}`)
  await page.getByRole('img', { name: /in the tool, .* for checks, waiting and records/ }).waitFor()
  await page.getByRole('img', { name: 'Image 1 of the result' }).waitFor()
  expect(await page.evaluate('[...document.images].map((each) => each.naturalWidth)')).toEqual([10])
  await page.getByText(/In a chain of \d+ records; not signed yet/).waitFor()
  expect([await findFaults(page), faults]).toEqual([[], []])
})
