/** The clients that generators create from the document: what each is generated with, as the tests do it and `docs/api.md` shows it. */
import type { ToolName } from "./tools.ts";

export interface GeneratedClient {
  readonly generator: ToolName;
  /** Options of the generator that decide what the client is like. */
  readonly options: readonly string[];
  /** The libraries that the client sends and decodes with. */
  readonly libraries: string;
  /** Programs that generate, compile or run it. */
  readonly commands: readonly string[];
  /** Files that it needs, and what installs them. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The versions of the libraries of the Kotlin client, whose build file is for Gradle: properties of `programs/pom.xml`. */
export const kotlinVersions = { kotlin: "2.2.20", okhttp: "5.1.0", moshi: "1.15.2" } as const;

export const generatedClients = {
  Go: {
    generator: "oapiCodegen",
    options: ["-generate", "types,client", "-package", "carquet"],
    libraries: "`net/http`",
    commands: ["go"],
  },
  Python: {
    generator: "openapiPythonClient",
    options: [],
    libraries: "httpx",
    commands: [],
  },
  Java: {
    generator: "openapiGenerator",
    options: ["-g", "java", "--library", "native", "--additional-properties=useSingleRequestParameter=true"],
    libraries: "`java.net.http`, Jackson",
    commands: ["java", "mvn"],
  },
  Kotlin: {
    generator: "openapiGenerator",
    options: ["-g", "kotlin"],
    libraries: `OkHttp ${kotlinVersions.okhttp}, Moshi ${kotlinVersions.moshi}; compiled with Kotlin ${kotlinVersions.kotlin}`,
    commands: ["java", "mvn"],
  },
  Rust: {
    generator: "openapiGenerator",
    options: [
      "-g",
      "rust",
      "--library",
      "reqwest-trait",
      "--additional-properties=useSingleRequestParameter=true,useBonBuilder=true",
    ],
    libraries: "reqwest 0.12",
    commands: ["java", "cargo"],
  },
  PHP: {
    generator: "openapiGenerator",
    options: ["-g", "php"],
    libraries: "Guzzle 7",
    commands: ["java", "php"],
    files: {
      "/usr/share/php/GuzzleHttp/autoload.php": "Debian's packages php-curl, php-mbstring and php-guzzlehttp-guzzle",
    },
  },
} as const satisfies Readonly<Record<string, GeneratedClient>>;

export type GeneratedLanguage = keyof typeof generatedClients;
