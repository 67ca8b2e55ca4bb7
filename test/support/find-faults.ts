import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe finds wrong with a page as it stands, and whether it is wider than the screen. */
export async function findFaults(page: Page): Promise<unknown[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run()
    return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])
  })
  const [wide, seen] = (await page.evaluate(
    '[document.body.scrollWidth, document.documentElement.clientWidth]',
  )) as [number, number]
  return wide > seen ? [...found, `${wide} pixels wide`] : found
}
