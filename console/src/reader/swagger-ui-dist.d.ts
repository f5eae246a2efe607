// Swagger UI brings no types of its own; this is what is used of it.
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  export type Component = (props: Record<string, unknown>) => unknown;
  export interface System {
    React: {
      createElement: (type: unknown, props?: object | null, ...inside: unknown[]) => unknown;
      createContext: (value: unknown) => { Provider: unknown };
      useContext: (context: unknown) => unknown;
    };
    Im: { List: (items: unknown[]) => unknown };
    getComponent: (name: string, container?: boolean) => unknown;
    specActions: { updateJsonSpec: (document: object) => void };
  }
  export interface SentRequest {
    method: string;
    headers: Record<string, string>;
    credentials?: RequestCredentials;
  }
  export default function SwaggerUI(options: Record<string, unknown>): System;
}
