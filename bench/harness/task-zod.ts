import { z } from 'zod'

/** The schema of the shared task for peers that take zod. */
export const taskZod = z.object({
  item: z.string().min(1).max(200),
  count: z.int().min(0).max(1_000_000_000),
  unit: z.enum(['g', 'kg', 'piece']),
  express: z.boolean(),
})
