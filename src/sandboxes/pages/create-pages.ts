import type { Pages } from '../../contract/services/network.ts'

/** Pages for one call; each signal ends what it converts. Nothing is loaded before the first page. */
export function createPages(signals: () => readonly AbortSignal[]): Pages {
  return {
    async convert({ timeoutMs, ...page }) {
      const [{ checkShape }, { runPageWorker }] = await Promise.all([
        import('./check-shape.ts'),
        import('./run-page-worker.ts'),
      ])
      await checkShape(page.html)
      return runPageWorker(page, { timeoutMs, signals: signals() })
    },
  }
}
