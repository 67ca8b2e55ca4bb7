import { parentPort, workerData } from 'node:worker_threads'
import { convertPage } from './convert-page.ts'
import type { Page } from './page.ts'

// The thread that starts this worker hands it a page.
parentPort?.postMessage(convertPage(workerData as Page))
