import type { Login } from './create-login.ts'

/** Does something, and does it again each time that the person of the runtime has logged in for it: for each thing that it lacks once. */
export async function withLogin<T>(login: Login | undefined, work: () => Promise<T>): Promise<T> {
  if (login === undefined) return work()
  const mended = new Set<string>()
  for (;;)
    try {
      const done = await work()
      login.worked()
      return done
    } catch (error) {
      if (!(await login.mend(error, mended))) throw error
    }
}
