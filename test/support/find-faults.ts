import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe finds wrong with a page as it stands, by these of its rules. Default: by all. */
export async function findFaults(page: Page, rules?: string[]): Promise<unknown[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async (only) => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({
      resultTypes: ['violations'],
      ...(only !== undefined && { runOnly: only }),
    })
    return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])
  }, rules)
}
