/** A node as the files of deploy/cluster/ name it. */
export interface DeployedNode {
  readonly name: string;
  readonly host: string;
  readonly httpPort: number;
  readonly grpcPort: number;
}
