import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe finds wrong with a page as it stands. */
export async function findFaults(page: Page): Promise<unknown[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({
      resultTypes: ['violations'],
    })
    return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])
  })
}
