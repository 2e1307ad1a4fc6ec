/** The Iceberg runtime of Spark, which `npm run test:all` installs. */
import { projectPath } from "../../src/base/project-files.ts";

const artifactId = "iceberg-spark-runtime-4.0_2.13";
const version = "1.10.0";

/** The Maven coordinates of the runtime. */
export const icebergArtifact = `org.apache.iceberg:${artifactId}:${version}`;

/** Its path, once it is installed. */
export const icebergJar = projectPath(`.venv/jars/${artifactId}-${version}.jar`);
