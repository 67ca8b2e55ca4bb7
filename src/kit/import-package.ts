/**
 * Imports a package that is installed beside this one, or that a person named. It stands alone, as what starts the command line runs the other files of the
 * bundle as scripts, and a script imports nothing.
 */
export function importPackage<Module>(name: string): Promise<Module> {
  return import(name)
}
