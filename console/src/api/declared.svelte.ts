import { get } from "./call";
import { Problem } from "./problem";

export interface CollectionBrief {
  name: string;
  title?: string;
  summary?: string;
  may_create?: boolean;
}
export interface PageBrief {
  title: string;
  file: string;
  module: string;
  panel_of?: string | null;
}
export interface DomainBrief {
  name: string;
  title: string;
  summary?: string;
  first?: { collection: string; pattern: string } | null;
  collections: CollectionBrief[];
  pages: PageBrief[];
}
export interface ProjectChoice {
  project: string;
  title?: string | null;
  domain?: string | null;
}

/** What is served: every domain that the caller may see anything of. Empty where the service does not tell. */
class Declared {
  domains = $state.raw<DomainBrief[]>([]);
  known = $state(false);

  async load(): Promise<void> {
    try {
      const told = await get<{ items?: DomainBrief[]; domains?: DomainBrief[] }>("/api/declared");
      this.domains = told.items ?? told.domains ?? [];
    } catch (thrown) {
      if (!(thrown instanceof Problem) || thrown.body.status !== 404) throw thrown;
      this.domains = [];
    } finally {
      this.known = true;
    }
  }

  domain(name: string): DomainBrief | undefined {
    return this.domains.find((d) => d.name === name);
  }
}

export const declared = new Declared();

/** Projects whose id or title begins so; none where the service does not tell. */
export async function projectsLike(prefix: string, signal?: AbortSignal): Promise<ProjectChoice[]> {
  try {
    const told = await get<{ items: ProjectChoice[] }>("/api/projects", {
      query: { prefix, limit: 20 },
      everywhere: true,
      signal,
    });
    return told.items;
  } catch (thrown) {
    if (thrown instanceof Problem && thrown.body.status === 404) return [];
    throw thrown;
  }
}

/** `audit_lines`, or `auditLines`, as people read it. A name that begins as a kind of record does stays one word. */
export const spoken = (name: string): string => {
  const apart = /^[a-z]/.test(name)
    ? name.replace(
        /([a-z0-9])([A-Z])(?![A-Z])/g,
        (_, before: string, letter: string) => `${before} ${letter.toLowerCase()}`,
      )
    : name;
  const words = apart.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};
